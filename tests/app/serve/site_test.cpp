#include "app/serve/site.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "app/serve/pages.h"
#include "app/serve/window_files.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using gapscope::test::TempFolder;

namespace {

const std::string kToken = "0123456789abcdef0123456789abcdef";

// A folder with one file of ten bytes; the program that would be called is not there.
struct Served {
  TempFolder folder;
  Site site;

  Served() : site("/no/program", *AllowedFolders::make({make()}, Allowed::recordings), {kToken, "c", {"localhost"}, false}) {}
  std::string make() const {
    std::ofstream(folder.path() / "a.json") << "0123456789";
    std::ofstream(folder.path() / "b.txt") << "secret";
    return folder.path().string();
  }
  WebAnswer get(const std::string& target, const std::string& range = "", const std::string& if_range = "",
                const std::string& if_none_match = "") {
    return site.answer({target, "localhost:1", "", "c=" + kToken, range, if_range, if_none_match, [] { return false; }});
  }
};

std::string header(const WebAnswer& answer, const std::string& name) {
  for (const auto& [key, value] : answer.headers)
    if (key == name) return value;
  return {};
}

std::string text_of(const WebAnswer& answer) {
  return answer.file ? answer.file->read(answer.offset, answer.bytes) : answer.body;
}

}  // namespace

TEST_CASE("a file, and parts of it") {
  Served served;
  const WebAnswer whole = served.get("/file/a.json");
  CHECK(whole.status == 200);
  CHECK(text_of(whole) == "0123456789");
  const std::string tag = header(whole, "ETag");
  CHECK(tag.size() > 4);
  CHECK(header(whole, "Content-Disposition") == "attachment; filename*=UTF-8''a.json");
  const WebAnswer part = served.get("/file/a.json", "bytes=2-4");
  CHECK(part.status == 206);
  CHECK(text_of(part) == "234");
  CHECK(header(part, "Content-Range") == "bytes 2-4/10");
  CHECK(text_of(served.get("/file/a.json", "bytes=-3", tag)) == "789");
  CHECK(text_of(served.get("/file/a.json", "bytes=-3", "\"other\"")) == "0123456789");
  const WebAnswer beyond = served.get("/file/a.json", "bytes=10-");
  CHECK(beyond.status == 416);
  CHECK(header(beyond, "Content-Range") == "bytes */10");
  CHECK(served.get("/file/a.json", "", "", tag).status == 304);
  CHECK(served.get("/file/a.json", "", "", "\"x\", " + tag).status == 304);
  CHECK(served.get("/file/a.json", "", "", "\"x\"").status == 200);
}

TEST_CASE("a file that changes is not mixed with what it was") {
  Served served;
  const WebAnswer answer = served.get("/file/a.json");
  CHECK(answer.file->read(0, 4) == "0123");
  std::ofstream(served.folder.path() / "a.json", std::ios::app) << "more";
  CHECK(answer.file->read(4, 4).empty());
  CHECK(text_of(served.get("/file/a.json")) == "0123456789more");
  const WebAnswer again = served.get("/file/a.json");
  std::filesystem::remove(served.folder.path() / "a.json");
  CHECK(served.get("/file/a.json").status == 404);
  CHECK(again.file->read(0, 4) == "0123");  // what was opened is still there, as it was
}

TEST_CASE("what is no recording below the folder is not found") {
  Served served;
  for (const char* begin : {"/file/", "/view/"})
    for (const char* path :
         {"b.txt", "../a.json", "%2e%2e/a.json", "%252e%252e/a.json", "..%2fa.json", "/etc/passwd", "", "a.json/", "c.json"})
      CHECK_MESSAGE(served.get(std::string(begin) + path).status == 404, path);
  CHECK(served.get("/file/a.json%00.txt").status == 400);
  CHECK(served.get("/nothing").status == 404);
  CHECK(served.get("/api/nothing?trace=a.json").status == 404);
  CHECK(served.get("/api/why?trace=b.txt").status == 422);
  CHECK(served.get("/api/why?trace=a.json&cursor=1").status == 422);
  CHECK(served.get("/api/why?trace=a.json&trace=a.json").status == 422);
  CHECK(served.get("/api/why?trace=a.json&by_step=yes").status == 422);
  CHECK(served.get("/diff?pick=a.json").status == 422);
  CHECK(served.get("/diff?pick=a.json&pick=b.txt").status == 404);
}

TEST_CASE("of the window's folder its own files are served, to those who may ask, and nothing else in it") {
  TempFolder folder;
  for (const char* name :
       {"index.html", "page.js", "service_worker.js", "gapscope.js", "gapscope.wasm", "gapscope.data", "secret.txt"})
    std::ofstream(folder.path() / name) << name;
  CHECK(holds_window(folder.path()));
  Served served;
  Site site("/no/program", *AllowedFolders::make({served.folder.path().string()}, Allowed::recordings),
            {kToken, "c", {"localhost"}, false}, folder.path());
  const auto get = [&](const std::string& target, const std::string& cookie) {
    return site.answer({target, "localhost:1", "", cookie, "", "", "", [] { return false; }});
  };
  const WebAnswer page = get("/window/", "c=" + kToken);
  CHECK(text_of(page) == "index.html");
  CHECK(page.type == "text/html; charset=utf-8");
  CHECK(header(page, "Content-Security-Policy") == kWindowPolicy);
  CHECK(get("/window/gapscope.wasm", "c=" + kToken).type == "application/wasm");
  for (const char* name : {"secret.txt", "../a.json", "x/../page.js", "page.js/", "."})
    CHECK_MESSAGE(get(std::string("/window/") + name, "c=" + kToken).status == 404, name);
  CHECK(get("/window/", "").status == 403);
  CHECK(get("/window/gapscope.wasm", "").status == 403);
  CHECK(served.get("/window/").status == 404);  // where it was not built
  std::filesystem::remove(folder.path() / "gapscope.wasm");
  CHECK_FALSE(holds_window(folder.path()));
  CHECK(get("/window/gapscope.wasm", "c=" + kToken).status == 404);
}

TEST_CASE("pages with tables may run a script, which is ours and asks for the list; others none") {
  Served served;
  CHECK(header(served.get("/"), "Content-Security-Policy") == kTablePolicy);
  for (const char* other : {"/table/x/a.json", "/table/kernels", "/table/", "/table/kernels/nothing.json"})
    CHECK_MESSAGE(served.get(other).status == 404, other);
  for (const char* other : {"/view/a.json", "/nothing", "/list.js/", "/list.jsx", "/table/x/a.json"})
    CHECK_MESSAGE(header(served.get(other), "Content-Security-Policy").empty(), other);  // common_headers()
  const WebAnswer script = served.get(std::string(kListScriptAddress));
  CHECK(script.type == "text/javascript; charset=utf-8");
  CHECK(text_of(script).find("fetch(\"/\")") != std::string::npos);
  const WebAnswer to_others =
      served.site.answer({std::string(kListScriptAddress), "localhost:1", "", "", "", "", "", [] { return false; }});
  CHECK(to_others.status == 403);
}

TEST_CASE("with the token in the address a browser gets the cookie and continues without it, a program its answer") {
  Served served;
  const auto get = [&](const std::string& target) {
    return served.site.answer({target, "localhost:1", "", "", "", "", "", [] { return false; }});
  };
  CHECK(get("/").status == 403);
  CHECK(get("/?token=" + kToken.substr(1)).status == 403);
  CHECK(get("/file/a.json").status == 403);
  const WebAnswer entrance = get("/view/a%20b.json?token=" + kToken + "&x=1");
  CHECK(entrance.status == 200);
  CHECK(header(entrance, "Refresh") == "0; url=/view/a%20b.json?x=1");
  CHECK(header(entrance, "Set-Cookie").starts_with("c=" + kToken + "; "));
  CHECK(entrance.body.find(kToken) == std::string::npos);
  CHECK(text_of(get("/file/a.json?token=" + kToken)) == "0123456789");
  CHECK(get("//evil.example/?token=" + kToken).status == 403);
  CHECK(header(get("/"), "Cache-Control") == "no-store");
}
