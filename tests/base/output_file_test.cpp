#include "core/base/output_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/small_disk.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;
namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

std::unique_ptr<OutputFile> create(const std::string& path, const OutputOptions& options = {}) {
  auto file = OutputFile::create(path, options);
  REQUIRE_MESSAGE(file.ok(), (file.ok() ? "" : file.error().message));
  return std::move(*file);
}

}  // namespace

TEST_CASE("an output file appears whole when it is finished, and not before") {
  const TempFolder folder;
  const std::string path = folder.write("a.json", "old");
  const std::string large(1'000'000, 'x');
  auto file = create(path);
  file->write("new ");
  file->write(large);
  CHECK(text_of(path) == "old");
  CHECK(!file->finish());
  CHECK(text_of(path) == "new " + large);
  CHECK(names_in(folder.path()) == Names{"a.json"});
}

TEST_CASE("of an output file that is not finished nothing stays") {
  const TempFolder folder;
  const std::string path = folder.write("a.json", "old");
  create(path)->write("new");
  create((folder.path() / "b.json").string())->write("new");
  CHECK(text_of(path) == "old");
  CHECK(names_in(folder.path()) == Names{"a.json"});
}

TEST_CASE("of two that write one file the later wins whole") {
  const TempFolder folder;
  const std::string path = (folder.path() / "a.json").string();
  auto one = create(path), two = create(path);
  one->write("one");
  two->write("two, which is longer");
  CHECK(!two->finish());
  CHECK(!one->finish());
  CHECK(text_of(path) == "one");
  CHECK(names_in(folder.path()) == Names{"a.json"});
}

TEST_CASE("a name that is taken, even while the file was written, is left alone and the next number is taken") {
  const TempFolder folder;
  const std::string path = (folder.path() / "a.part.json.gz").string();
  auto one = create(path, {.if_taken = IfTaken::number}), two = create(path, {.if_taken = IfTaken::number});
  one->write("one");
  two->write("two");
  CHECK(!two->finish());
  CHECK(!one->finish());
  CHECK(two->path() == path);
  CHECK(one->path() == (folder.path() / "a.part-2.json.gz").string());
  CHECK(text_of(one->path()) == "one");
  CHECK(text_of(two->path()) == "two");
  fs::create_symlink("nowhere", folder.path() / "b.png");
  CHECK(*write_file((folder.path() / "b.png").string(), "", {.if_taken = IfTaken::number}) ==
        (folder.path() / "b-2.png").string());
  CHECK(names_in(folder.path()) == Names{"a.part-2.json.gz", "a.part.json.gz", "b-2.png", "b.png"});
}

TEST_CASE("a number goes before the ending, and a packing's ending with the one before it") {
  CHECK(numbered("/a.b/c.json.gz", 2) == "/a.b/c-2.json.gz");
  CHECK(numbered("c.json", 13) == "c-13.json");
  CHECK(numbered("/a.b/c", 2) == "/a.b/c-2");
  CHECK(numbered("/a/.gz", 2) == "/a/-2.gz");
  CHECK(numbered(".hidden", 2) == ".hidden-2");
  CHECK(numbered("settings.json.broken", 1) == "settings.json-1.broken");
}

TEST_CASE("what is being read is not written, whatever name it goes by") {
  const TempFolder folder;
  const std::string path = folder.write("a.json", "old"), hard = (folder.path() / "hard").string(),
                    soft = (folder.path() / "soft").string();
  fs::create_hard_link(path, hard);
  fs::create_symlink("hard", soft);
  const std::array inputs = {std::string("/none"), path};
  for (const std::string& name : {path, hard, soft, folder.path().string() + "/./a.json"}) {
    const auto refused = OutputFile::create(name, {.inputs = inputs});
    REQUIRE(!refused.ok());
    CHECK(refused.error().message == name + " is the trace itself, which is still being read. Write to another file.");
  }
  CHECK(text_of(path) == "old");
  const std::array both = {std::string("/dev/null")};
  CHECK(OutputFile::create("/dev/null", {.inputs = both}).ok());  // a device may well be both
}

TEST_CASE("a link stays and what it leads to is written, be it there or not") {
  const TempFolder folder;
  fs::create_directory(folder.path() / "deep");
  fs::create_symlink("deep/b", folder.path() / "a");
  fs::create_symlink("c", folder.path() / "deep/b");
  for (const char* text : {"first", "second"}) {
    CHECK(write_file((folder.path() / "a").string(), text).ok());
    CHECK(fs::is_symlink(folder.path() / "a"));
    CHECK(fs::is_symlink(folder.path() / "deep/b"));
    CHECK(text_of(folder.path() / "deep/c") == text);
  }
}

TEST_CASE("an open file is written on from where it is, and stays the file that it is") {
  const TempFolder folder;
  const std::string path = folder.write("a", "");
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(::write(fd, "before ", 7) == 7);
  CHECK(write_file("/dev/fd/" + std::to_string(fd), "after").ok());
  ::close(fd);
  CHECK(text_of(path) == "before after");
}

TEST_CASE("a file that is replaced keeps its permissions, and a new one has what the umask leaves") {
  const TempFolder folder;
  const std::string path = folder.write("a", "old"), other = (folder.path() / "b").string();
  const mode_t mask = ::umask(0027);
  fs::permissions(path, fs::perms(0604));
  CHECK(write_file(path, "new").ok());
  CHECK(write_file(other, "new").ok());
  ::umask(mask);
  CHECK(static_cast<int>(fs::status(path).permissions()) == 0604);
  CHECK(static_cast<int>(fs::status(other).permissions()) == 0640);
}

TEST_CASE("where nothing can be written is said in a sentence") {
  const TempFolder folder;
  const auto sentence = [](const std::string& path) {
    const auto written = write_file(path, "x");
    return written.ok() ? "it could" : written.error().message;
  };
  const std::string end = ". Name a place where you may write and where there is room.";
  const std::string nowhere = (folder.path() / "no/a").string();
  CHECK(sentence(nowhere) == nowhere + " cannot be written: No such file or directory" + end);
  CHECK(sentence(folder.path().string()) == folder.path().string() + " is a folder. Name a file in it.");
  CHECK(sentence("") == " cannot be written: No such file or directory" + end);
  CHECK(sentence("/dev/full") == "/dev/full cannot be written: No space left on device" + end);
  fs::create_symlink("loop", folder.path() / "loop");
  CHECK(sentence((folder.path() / "loop").string()).find("Too many levels of symbolic links") != std::string::npos);
  CHECK(names_in(folder.path()) == Names{"loop"});
}

TEST_CASE("on a disk without room what was there stays as it was") {
  std::string trouble;
  const bool possible = on_small_disk(1, trouble, [](const std::string& disk) -> std::string {
    std::ofstream(disk + "/a") << "old";
    const auto written = write_file(disk + "/a", std::string(3'000'000, 'x'));
    if (written.ok()) return "it was written";
    if (written.error().message.find("No space left on device") == std::string::npos) return written.error().message;
    if (text_of(disk + "/a") != "old") return "what was there is gone";
    if (names_in(disk) != Names{"a"}) return "something was left behind";
    return {};
  });
  if (possible) CHECK(trouble == "");
}

TEST_CASE("a temporary that must have a name behaves like one that has none") {
  const TempFolder folder;
  folder.write("taken", "old");
  {
    TemporaryFile file(folder.path().string(), 0644, /*may_be_nameless=*/false);
    REQUIRE(file.trouble() == 0);
    REQUIRE(names_in(folder.path()).size() == 2);
    CHECK(names_in(folder.path()).front().starts_with(".gapscope-"));
    REQUIRE(::write(file.fd(), "new", 3) == 3);
    CHECK(file.take("taken") == EEXIST);
    CHECK(file.take("free") == 0);
  }
  { const TemporaryFile given_up(folder.path().string(), 0644, false); }
  CHECK(names_in(folder.path()) == Names{"free", "taken"});
  CHECK(text_of(folder.path() / "free") == "new");
  CHECK(text_of(folder.path() / "taken") == "old");
  TemporaryFile file(folder.path().string(), 0644, false);
  CHECK(file.replace("taken") == 0);
  CHECK(names_in(folder.path()) == Names{"free", "taken"});
  CHECK(text_of(folder.path() / "taken") == "");
}

TEST_CASE("a name is given unless a file has it") {
  const TempFolder folder;
  const std::string one = folder.write("one", "1"), two = folder.write("two", "2"), three = (folder.path() / "three").string();
  CHECK(rename_unless_taken(AT_FDCWD, one.c_str(), two.c_str()) == EEXIST);
  CHECK(rename_unless_taken(AT_FDCWD, one.c_str(), three.c_str()) == 0);
  CHECK(rename_unless_taken(AT_FDCWD, one.c_str(), three.c_str()) == ENOENT);
  CHECK(names_in(folder.path()) == Names{"three", "two"});
  CHECK(text_of(three) == "1");
}

TEST_CASE("signals that end the program take away the temporaries that have a name") {
  const TempFolder folder;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGKILL}) {
    CAPTURE(signal);
    const pid_t child = ::fork();
    if (child == 0) {
      for (const int own : {SIGINT, SIGTERM, SIGHUP}) std::signal(own, SIG_DFL);  // doctest handles them
      remove_temporaries_when_killed();
      const TemporaryFile one(folder.path().string(), 0644, false), two(folder.path().string(), 0644, signal == SIGKILL);
      ::raise(signal);
      ::_exit(1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
    CHECK(names_in(folder.path()).size() ==
          (signal == SIGKILL ? 1 : 0));  // after that one only a file without a name is tidied up
  }
}

TEST_CASE("a signal that is ignored stays ignored") {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGHUP, SIG_IGN);
    remove_temporaries_when_killed();
    ::raise(SIGHUP);
    ::_exit(7);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
}
