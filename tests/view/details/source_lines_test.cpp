#include "core/view/details/source_lines.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/load/load_trace.h"
#include "core/view/allowed_sources.h"
#include "core/view/details/details_model.h"
#include "core/view/details/details_sections.h"
#include "tests/support/process_state.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using test::document_from_text;
using test::slice_named;
using test::TempFolder;

namespace {

// A kernel launched from a function of the program, inside one of PyTorch's.
constexpr std::string_view kStep = R"json({"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "python_function", "name": "/src/model/train.py(5): step", "pid": 1, "tid": 1, "ts": 100, "dur": 900, "args": {"Python id": 1}},
{"ph": "X", "cat": "python_function", "name": "torch/nn/functional.py(9): relu", "pid": 1, "tid": 1, "ts": 111, "dur": 90, "args": {"Python id": 3}},
{"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 1, "tid": 1, "ts": 115, "dur": 50, "args": {"External id": 1}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 120, "dur": 10, "args": {"correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 140, "dur": 400, "args": {"device": 0, "stream": 7, "correlation": 7}},
{"ph": "X", "cat": "cpu_op", "name": "aten::alone", "pid": 1, "tid": 1, "ts": 2000, "dur": 50, "args": {"External id": 2}}
]})json";

constexpr std::string_view kProgram =
    "import torch\n\n\nclass Net:\n  def step(self):\n    x = 1\n\n    y = 2\r\n    return\tx\n";

SourceLines read(const Document& document, std::string frame, std::vector<std::string> paths, bool asks = true) {
  return *answer(document, SourceLinesQuestion{std::move(frame), std::move(paths), asks}, nullptr);
}

}  // namespace

TEST_CASE("the lines around a frame are read where the settings say that its folder lies") {
  const TempFolder folder;
  const std::string file = folder.write("model/train.py", kProgram);
  const auto document = document_from_text(kStep);
  const SourceLines lines = read(*document, "/src/model/train.py(5): step", {"/src=" + folder.path().string()});
  CHECK(lines.note.empty());
  CHECK(lines.file == file);
  CHECK(lines.line == 5);
  CHECK(lines.first == 3);
  CHECK(lines.lines ==
        std::vector<std::string>{"", "class Net:", "  def step(self):", "    x = 1", "", "    y = 2", "    return    x"});
}

TEST_CASE("what the lines shown share of their indentation is left out") {
  const TempFolder folder;
  folder.write("a.py", "class A:\n\n\n    def f(self):\n        return 1\n");
  const SourceLines lines = read(*document_from_text(kStep), "/src/a.py(4): f", {"/src=" + folder.path().string()});
  CHECK(lines.lines == std::vector<std::string>{"", "", "def f(self):", "    return 1"});
}

TEST_CASE("a file that is gone, changed or shorter says so") {
  const TempFolder folder;
  const auto document = document_from_text(kStep);
  const std::vector<std::string> paths = {"/src=" + folder.path().string()};
  const auto note = [&](const std::string& frame) { return read(*document, frame, paths).note; };
  CHECK(note("/src/model/train.py(5): step").find("/src/model/train.py is not on this machine. Set its folder in View") == 0);
  const std::string file = folder.write("model/train.py", kProgram);
  CHECK(note("/src/model/train.py(5): step").empty());
  CHECK(note("/src/model/train.py(5): other") == "The file was changed since it was recorded: line 5 is not of other.");
  CHECK(note("/src/model/train.py(77): step") == "The file was changed since it was recorded: it has no line 77.");
  CHECK(read(*document, "/src/model/train.py(77): step", paths).lines.empty());
  std::filesystem::remove(file);
  CHECK(note("/src/model/train.py(5): step").find("is not on this machine") != std::string::npos);
  std::filesystem::create_directories(folder.path() / "folder.py");
  CHECK(note("/src/folder.py(1): step").find("cannot be read.") != std::string::npos);
}

TEST_CASE("a relative path is never looked for in the working directory") {
  const TempFolder folder;
  folder.write("only_here.py", "def f():\n  pass\n");
  const test::InFolder working(folder.path());
  const SourceLines lines = read(*document_from_text(kStep), "only_here.py(1): f", {});
  CHECK(lines.lines.empty());
  CHECK(lines.note.find("only_here.py is not on this machine") == 0);
  // The recording's own folder is looked in.
  const std::string trace = folder.write("trace.json", kStep);
  const Result<std::shared_ptr<const Trace>> loaded = load_trace(trace);
  REQUIRE(loaded.ok());
  const SourceLines unasked = read(Document(*loaded), "only_here.py(1): f", {});
  CHECK(unasked.lines.empty());
  CHECK(unasked.to_allow == std::filesystem::canonical(folder.path()).string());
  CHECK(read(Document(*loaded), "only_here.py(1): f", {"=" + unasked.to_allow}).lines.front() == "def f():");
}

TEST_CASE("a file that the trace names is read once its folder is allowed, which a person is asked") {
  const TempFolder folder, elsewhere;
  const std::string file = folder.write("config.py", "password = 1\n");
  std::filesystem::create_symlink(file, elsewhere.path() / "x.py");
  const auto document = document_from_text(kStep);
  const std::string real = std::filesystem::canonical(folder.path()).string(), frame = file + "(1): <module>";
  const std::string by_link = (elsewhere.path() / "x.py").string() + "(1): <module>";
  for (const std::string& asked : {frame, by_link}) {
    for (const std::vector<std::string>& paths :
         {std::vector<std::string>{}, std::vector<std::string>{"=" + elsewhere.path().string()}}) {
      const SourceLines lines = read(*document, asked, paths);
      CHECK(lines.lines.empty());
      CHECK(lines.to_allow == real);
      CHECK(lines.note == allow_sentence(real));
    }
    CHECK(read(*document, asked, {"=" + real}).lines == std::vector<std::string>{"password = 1"});
    CHECK(read(*document, asked, {"=" + real}).to_allow.empty());
  }
  // Where no person can be asked, it is not even said whether the file is there.
  const std::string missing = (folder.path() / "gone.py").string();
  for (const std::vector<std::string>& paths :
       {std::vector<std::string>{}, std::vector<std::string>{"=" + elsewhere.path().string()}}) {
    const SourceLines there = read(*document, frame, paths, false),
                      gone = read(*document, missing + "(1): <module>", paths, false);
    CHECK(there.note == "Lines of " + file + " are shown where --sources names its folder.");
    CHECK(gone.note == "Lines of " + missing + " are shown where --sources names its folder.");
    CHECK(there.to_allow.empty());
    CHECK(there.lines.empty());
  }
  CHECK(read(*document, frame, {"=" + real}, false).lines == std::vector<std::string>{"password = 1"});
}

TEST_CASE("the code of a module that was saved after the recording may have moved") {
  const TempFolder folder;
  folder.write("a.py", "import torch\nx = 1\n");
  const auto at = [&](const char* base) {
    return read(*document_from_text(R"({"schemaVersion": 1, "baseTimeNanoseconds": )" + std::string(base) +
                                    R"(, "traceEvents": [{"ph": "X", "name": "x", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]})"),
                "/src/a.py(2): <module>", {"/src=" + folder.path().string()})
        .note;
  };
  CHECK(at("1000000000000000000") == "The file was saved after the recording: its lines may have moved.");
  CHECK(at("4102444800000000000").empty());  // in the year 2100
}

TEST_CASE("a line is of a function that begins there or around it, with its decorators") {
  const std::vector<std::string> lines = {
      "@torch.no_grad()", "@other(", "    1)",           "async def step(x):", "  def inner():",   "    return 1",
      "# a comment",      "",        "  return inner()", "def after(): pass",  "def step_more():", "  step(inner())"};
  CHECK(is_in_function(lines, 1, "step"));
  CHECK(is_in_function(lines, 2, "step"));
  CHECK(is_in_function(lines, 4, "step"));
  CHECK(is_in_function(lines, 6, "inner"));
  CHECK(is_in_function(lines, 6, "step"));
  CHECK(is_in_function(lines, 9, "step"));
  CHECK_FALSE(is_in_function(lines, 9, "inner"));
  CHECK_FALSE(is_in_function(lines, 10, "step"));
  CHECK(is_in_function(lines, 10, "after"));
  CHECK_FALSE(is_in_function(lines, 12, "step"));
  CHECK_FALSE(is_in_function(lines, 13, "step"));
  CHECK(is_in_function(lines, 12, "<module>"));
}

TEST_CASE("a kernel and an operator name the program's own frame, and show its lines once they are read") {
  const auto document = document_from_text(kStep);
  for (const char* name : {"k", "aten::relu", "cudaLaunchKernel"})
    CHECK(source_frame(*document, slice_named(*document, name)) == "/src/model/train.py(5): step");
  CHECK(source_frame(*document, slice_named(*document, "torch/nn/functional.py(9): relu")) ==
        "torch/nn/functional.py(9): relu");
  CHECK(source_frame(*document, slice_named(*document, "aten::alone")).empty());
  const TempFolder folder;
  folder.write("model/train.py", kProgram);
  const auto lines = answer(*document, {"/src/model/train.py(5): step", {"/src=" + folder.path().string()}}, nullptr);
  const auto shown = [&](const char* name) {
    for (const DetailsSection& section :
         make_details(*document, slice_named(*document, name), nullptr, nullptr, lines).sections)
      if (section.title == "Source") return section.source;
    return std::shared_ptr<const SourceLines>();
  };
  CHECK(shown("k") == lines);
  CHECK(shown("aten::relu") == lines);
  CHECK_FALSE(shown("aten::alone"));
  CHECK_FALSE(shown("torch/nn/functional.py(9): relu"));
}
