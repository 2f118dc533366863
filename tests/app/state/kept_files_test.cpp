#include "app/state/kept_files.h"

#include <doctest/doctest.h>

#include "app/state/exported_report.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

KeptView some_view() {
  KeptView view;
  view.visible = {4367497539681444, 4367497539999999};
  view.scroll_px = 12.5;
  view.tab = "kernels";
  view.range = Span{1, 2};
  view.selection = KeptSlice{"415", "7", "a \"name\"", true, {3, 4}};
  view.lanes = {{"415", "1", false, true, false, true}, {"0", "7", true, false, true, false}};
  view.processes = {{"415", true, false}, {"0", false, true}};
  view.filter = "x";
  view.python_folded = false;
  view.compact = true;
  view.steps = "train_step";
  view.stated_steps = "train";
  view.step_time = 35 * kNsPerMs;
  view.notes = {{{5, 9}, "here\nand there", 3}};
  return view;
}

}  // namespace

TEST_CASE("what is kept of a view is read back as it was") {
  const TempFolder folder;
  const auto file = kept_file(folder.path() / "new folder", "/traces/a.json", 100);
  CHECK(write_kept(file, some_view(), "/traces/a.json").say == "");
  const auto read = read_kept(file);
  REQUIRE((read.ok() && read->has_value()));
  CHECK(**read == some_view());
  const auto saved = [&](std::uint64_t bytes, Stated stated = {}) {
    add_saved(stated, folder.path() / "new folder", "/traces/a.json", bytes);
    return stated;
  };
  REQUIRE(saved(100).step_time);
  CHECK(saved(100).step_time->step == 35 * kNsPerMs);
  CHECK(saved(100).steps == "train");
  CHECK_FALSE(saved(101).step_time);
  // What is stated now holds.
  Stated now;
  now.steps = "epoch";
  now.step_time = kNsPerMs;
  CHECK(saved(100, now).steps == "epoch");
  CHECK(saved(100, now).step_time->step == kNsPerMs);
}

TEST_CASE("another path or another size is another trace; standard input is none") {
  CHECK(kept_file("/s", "/a.json", 1) != kept_file("/s", "/b.json", 1));
  CHECK(kept_file("/s", "/a.json", 1) != kept_file("/s", "/a.json", 2));
  CHECK(kept_file("/s", "/a.json", 1) == kept_file("/s", "/a.json", 1));
  CHECK(kept_file("/s", "-", 1).empty());
  CHECK(kept_file("", "/a.json", 1).empty());
  CHECK(state_folder("/x", "/home/me") == "/x/gapscope");
  CHECK(state_folder("relative", "/home/me") == "/home/me/.local/state/gapscope");
}

TEST_CASE("a temporary export is the trace that its report is") {
  add_export("/tmp/export/1/run.sqlite", {"/a/run.nsys-rep", 700});
  CHECK(kept_file("/s", "/tmp/export/1/run.sqlite", 5) == kept_file("/s", "/a/run.nsys-rep", 700));
  CHECK(kept_json({}, "/tmp/export/1/run.sqlite").find("\"/a/run.nsys-rep\"") != std::string::npos);
}

TEST_CASE("a broken file is moved aside, a missing one is none, and values of another kind are passed over") {
  const TempFolder folder;
  const std::string broken = folder.write("broken.json", "{\"visible_ns\": [1,");
  const auto read = read_kept(broken);
  REQUIRE(!read.ok());
  CHECK(read.error().message ==
        broken + ": the saved view of this trace cannot be used (the contents are no JSON); the file is now " + broken +
            ".broken-1.");
  CHECK(std::filesystem::exists(broken + ".broken-1"));
  CHECK(!std::filesystem::exists(broken));
  REQUIRE(read_kept(folder.path() / "none.json").ok());
  CHECK(!read_kept(folder.path() / "none.json")->has_value());
  const auto odd = read_kept(folder.write(
      "odd.json", R"({"visible_ns": "x", "lanes": [3, {"process": 5}], "notes": [{"colour": 200}], "compact": 1})"));
  REQUIRE((odd.ok() && odd->has_value()));
  CHECK((*odd)->visible == Span{});
  CHECK((*odd)->notes.at(0).colour == 0);
}

TEST_CASE("a file that was broken meanwhile is moved aside before it is written") {
  const TempFolder folder;
  const std::string file = folder.write("a.json", "[]");
  const StateWritten written = write_kept(file, some_view(), "/a.json");
  CHECK(written.done);
  CHECK(written.say.ends_with("the file is now " + file + ".broken-1."));
  CHECK(**read_kept(file) == some_view());
  CHECK(std::filesystem::file_size(file + ".broken-1") == 2);
}

TEST_CASE("times that cannot be and numbers out of reason are passed over") {
  const TempFolder folder;
  const auto kept =
      read_kept(folder.write("a.json", R"({"visible_ns": [-9223372036854775808, 9223372036854775807], "scroll_px": 1e308,
    "range_ns": [5, 4], "selection": {"span_ns": [18446744073709551615, 3]}, "notes": [{"colour": 1e300, "span_ns": [3, 18446744073709551615]}, {"colour": -1}]})"));
  REQUIRE((kept.ok() && kept->has_value()));
  CHECK((*kept)->visible == Span{});
  CHECK((*kept)->selection->span.begin <= (*kept)->selection->span.end);
  CHECK((*kept)->notes.at(0).colour == 0);
  CHECK((*kept)->notes.at(0).span == Span{});
  CHECK((*kept)->notes.at(1).colour == 0);
}
