#include "app/window/file_watch.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <semaphore>

#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;
using namespace std::chrono_literals;

TEST_CASE("a file that became another one is reported once, and one that stays is not") {
  const TempFolder folder;
  const std::string path = folder.write("a.json", "one");
  std::counting_semaphore<> woken{0};
  FileWatch watch([&] { woken.release(); }, 5ms);
  watch.watch(path, stamp_of(path));
  CHECK(!woken.try_acquire_for(60ms));
  folder.write("a.json", "another");
  CHECK(woken.try_acquire_for(10s));
  CHECK(watch.take_changed());
  CHECK(!watch.take_changed());
  CHECK(!woken.try_acquire_for(60ms));
}

TEST_CASE("a file that vanishes is not a changed one, but one that comes back in its place is") {
  const TempFolder folder;
  const std::string path = folder.write("a.json", "one");
  std::counting_semaphore<> woken{0};
  FileWatch watch([&] { woken.release(); }, 5ms);
  watch.watch(path, stamp_of(path));
  std::filesystem::remove(path);
  CHECK(!woken.try_acquire_for(60ms));
  folder.write("a.json", "another");
  CHECK(woken.try_acquire_for(10s));
}

TEST_CASE("standard input and folders have no stamp") {
  const TempFolder folder;
  CHECK(!stamp_of("-"));
  CHECK(!stamp_of(folder.path().string()));
  CHECK(!stamp_of((folder.path() / "none").string()));
}
