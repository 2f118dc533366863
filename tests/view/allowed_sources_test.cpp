#include "core/view/allowed_sources.h"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"

using namespace gapscope;
using test::TempFolder;
namespace fs = std::filesystem;
using Source = SourceText::Kind;

TEST_CASE("a source file is read below the folders that were named, links followed, and nowhere else") {
  const TempFolder folder, elsewhere;
  const std::string file = folder.write("model/train.py", "import torch\n");
  const std::string secret = elsewhere.write("config.py", "password = 1\n");
  fs::create_symlink(secret, folder.path() / "link.py");
  fs::create_directory_symlink(elsewhere.path(), folder.path() / "away");
  fs::create_symlink(file, elsewhere.path() / "back.py");
  const AllowedSources allowed({"/recorded=" + folder.path().string()});
  const auto read = [&](const fs::path& path) { return allowed.read(path.string(), 1000); };
  CHECK(read(file).kind == Source::read);
  CHECK(read(file).text == "import torch\n");
  CHECK(read(elsewhere.path() / "back.py").kind == Source::read);
  const std::string up = "model/../../" + elsewhere.path().filename().string() + "/config.py";
  for (const fs::path& path : {fs::path(secret), folder.path() / "link.py", folder.path() / "away/config.py",
                               folder.path() / up, folder.path() / "gone.py", fs::path("/etc/passwd"), fs::path()}) {
    CAPTURE(path.string());
    CHECK(read(path).kind == Source::not_allowed);
    CHECK(read(path).text.empty());
  }
  CHECK(AllowedSources().read(file, 1000).kind == Source::not_allowed);
  for (const char* line : {"/recorded=", "no equals sign", "", "=", "=relative", "=/no/such/folder"})
    CHECK(AllowedSources({line}).read(file, 1000).kind == Source::not_allowed);
  CHECK(AllowedSources({"=/no/such/folder", "=" + folder.path().string()}).read(file, 1000).kind == Source::read);
}

TEST_CASE("what is no text, or not called as source, is none, whatever its link is called") {
  const TempFolder folder;
  const AllowedSources allowed({"=" + folder.path().string()});
  const auto kind = [&](const std::string& path) { return allowed.read(path, 1000).kind; };
  for (const char* name : {"a.py", "a.pyx", "a.cu", "a.cuh", "a.cpp", "a.cc", "a.c", "a.h", "a.hpp"})
    CHECK(kind(folder.write(name, "x")) == Source::read);
  const std::string key = folder.write("id_rsa", "secret"), text = folder.write("notes.txt", "secret");
  fs::create_symlink(key, folder.path() / "key.py");
  CHECK(kind(key) == Source::no_source);
  CHECK(kind(text) == Source::no_source);
  CHECK(kind((folder.path() / "key.py").string()) == Source::no_source);
  CHECK(kind(folder.write("binary.py", std::string("a\0b", 3))) == Source::no_source);
  CHECK(kind(folder.write("empty.py", "")) == Source::read);
  fs::create_directory(folder.path() / "folder.py");
  CHECK(kind((folder.path() / "folder.py").string()) == Source::no_source);
  REQUIRE(::mkfifo((folder.path() / "pipe.py").c_str(), 0600) == 0);
  CHECK(kind((folder.path() / "pipe.py").string()) == Source::no_source);
  const SourceText cut = allowed.read(folder.write("long.py", std::string(2000, 'x')), 1000);
  CHECK(cut.text.size() == 1000);
  CHECK(cut.is_cut);
}

TEST_CASE("the folder that a person is asked to allow is the one in which the file really lies") {
  const TempFolder folder, elsewhere;
  const std::string file = folder.write("model/train.py", "import torch\n");
  fs::create_symlink(file, elsewhere.path() / "link.py");
  const std::string real = fs::canonical(folder.path() / "model").string();
  CHECK(folder_to_allow(file) == real);
  CHECK(folder_to_allow((elsewhere.path() / "link.py").string()) == real);
  CHECK(folder_to_allow((folder.path() / "gone.py").string()).empty());
  CHECK(folder_to_allow(folder.path().string()).empty());
  CHECK(folder_to_allow(folder.write("secret.txt", "x")).empty());
  CHECK(folder_to_allow(folder.write("two\nlines/a.py", "x")).empty());
  CHECK(allow_sentence(real).find(real) != std::string::npos);
}
