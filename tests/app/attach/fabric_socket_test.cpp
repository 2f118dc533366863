// The socket as a file: what is deleted on the way, and what never is.
#include "app/attach/fabric_socket.h"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::attach;
using gapscope::test::TempFolder;
namespace fs = std::filesystem;

namespace {

// A socket file without a listener, as a killed daemon leaves it.
void leave_dead_socket(const fs::path& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::strncpy(name.sun_path, path.c_str(), sizeof name.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  REQUIRE(bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  close(fd);
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void check_refused(const std::string& folder) {
  const auto socket = FabricSocket::listen(folder);
  REQUIRE_FALSE(socket);
  CHECK(socket.error().message.find("the file of this name is not your socket, and is not touched") != std::string::npos);
}

}  // namespace

TEST_CASE("what a killed daemon left is replaced, and taken away in the end") {
  const TempFolder folder;
  const fs::path path = folder.path() / "dynolog";
  leave_dead_socket(path);
  {
    const auto socket = FabricSocket::listen(folder.path().string());
    REQUIRE(socket);
    CHECK(fs::is_socket(path));
    CHECK_FALSE(FabricSocket::listen(folder.path().string()));
    CHECK(fs::is_socket(path));
  }
  CHECK_FALSE(fs::exists(fs::symlink_status(path)));
}

TEST_CASE("a file, a folder or a link of the socket's name is left alone") {
  const TempFolder folder;
  const fs::path path = folder.path() / "dynolog";
  folder.write("dynolog", "mine");
  check_refused(folder.path().string());
  CHECK(text_of(path) == "mine");
  fs::remove(path);
  leave_dead_socket(folder.path() / "other");
  fs::create_symlink(folder.path() / "other", path);
  check_refused(folder.path().string());
  CHECK(fs::is_symlink(path));
  CHECK(fs::is_socket(folder.path() / "other"));
  fs::remove(path);
  fs::create_directory(path);
  check_refused(folder.path().string());
  CHECK(fs::is_directory(path));
}

TEST_CASE("another user's socket is left alone" * doctest::skip(geteuid() != 0)) {
  const TempFolder folder;
  const fs::path path = folder.path() / "dynolog";
  leave_dead_socket(path);
  REQUIRE(chown(path.c_str(), 12345, 12345) == 0);
  check_refused(folder.path().string());
  CHECK(fs::is_socket(path));
}

TEST_CASE("what has come in the socket's place is not taken away") {
  const TempFolder folder;
  const fs::path path = folder.path() / "dynolog";
  {
    const auto socket = FabricSocket::listen(folder.path().string());
    REQUIRE(socket);
    fs::remove(path);
    folder.write("dynolog", "mine");
  }
  CHECK(text_of(path) == "mine");
}
