#include "core/view/source_place.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "core/trace/trace.h"
#include "tests/support/process_state.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;

TEST_CASE("a Python frame says its file and line, other names none") {
  CHECK(source_place("/home/a b/train.py(12): step") == SourcePlace{"/home/a b/train.py", 12});
  CHECK(place_text(*source_place("model.py(1783): _call_impl")) == "model.py:1783");
  CHECK(source_place("$train.py:31 batch") == SourcePlace{"train.py", 31});
  for (const char* name : {"$time sleep", "$train.py:31", "$train.py: step", "$<string>:1 f", "train.py:31 batch", "",
                           "aten::mm", "x.py", "x.py(", "x.py(12", "x.py(a): f", "x.py(-3): f", "x.py(99999999999999999999): f",
                           "<built-in method add>", "nn.Module: Linear_0"})
    CHECK_FALSE(source_place(name));
}

TEST_CASE("a recorded path leads to the file on this machine") {
  const test::TempFolder folder;
  std::filesystem::create_directories(folder.path() / "model");
  std::ofstream(folder.path() / "model/train.py") << "import torch\n";
  const std::string here = (folder.path() / "model/train.py").string();
  const std::vector<std::string> paths = {"/elsewhere=/nowhere", "/workspace=" + folder.path().string(),
                                          "=" + folder.path().string()};
  CHECK(path_here("/workspace/model/train.py", paths) == here);
  CHECK(path_here("model/train.py", paths) == here);
  CHECK(path_here("/workspace/other.py", paths) == "/workspace/other.py");
  CHECK(path_here("/workspace/model/train.py", {"no equals sign"}) == "/workspace/model/train.py");
}

TEST_CASE("a source file is looked for by the settings, then in the trace's folder, never in the working directory") {
  const test::TempFolder folder, elsewhere;
  std::ofstream(folder.path() / "run.json") << "[]";
  std::ofstream(folder.path() / "train.py") << "import torch\n";
  std::ofstream(elsewhere.path() / "train.py") << "import torch\n";
  Trace trace;
  trace.path = (folder.path() / "run.json").string();
  CHECK(source_here(trace, "train.py", {}) == (folder.path() / "train.py").string());
  CHECK(source_here(trace, "train.py", {"=" + elsewhere.path().string()}) == (elsewhere.path() / "train.py").string());
  CHECK(source_here(trace, (folder.path() / "train.py").string(), {}) == (folder.path() / "train.py").string());
  CHECK_FALSE(source_here(trace, "/nowhere/train.py", {}));
  const test::InFolder working(folder.path());
  trace.path = (elsewhere.path() / "gone.json").string();
  CHECK_FALSE(source_here(trace, "train.py", {}));
}
