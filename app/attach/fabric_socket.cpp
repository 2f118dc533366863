#include "app/attach/fabric_socket.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/text.h"

namespace gapscope::attach {
namespace {

constexpr std::string_view kName = "dynolog";
constexpr std::size_t kLargestMessage = 8192;  // a poll with 1,024 pids has 4,152 bytes

struct Address {
  sockaddr_un name{};
  socklen_t bytes = 0;
};

std::optional<Address> address_of(const std::string& path) {
  Address address;
  address.name.sun_family = AF_UNIX;
  const std::string text = path.empty() ? std::string(1, '\0').append(kName) : path;
  if (text.size() + 1 > sizeof address.name.sun_path) return std::nullopt;
  std::memcpy(address.name.sun_path, text.data(), text.size());  // what follows is zero, and the first of these belongs to it
  address.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + text.size() + 1);
  return address;
}

// Links are not followed.
bool is_own_socket(const struct stat& file) { return S_ISSOCK(file.st_mode) && file.st_uid == geteuid(); }

Error listen_trouble(const std::string& path, int why) {
  const std::string where = path.empty() ? std::string("the socket \"dynolog\"") : printable(path);
  struct stat file {};
  if (why == EADDRINUSE && !path.empty() && lstat(path.c_str(), &file) == 0 && !is_own_socket(file))
    return {"Cannot listen at " + where +
            ": the file of this name is not your socket, and is not touched. Move it away, or choose another folder "
            "(KINETO_IPC_SOCKET_DIR, here and for the programs)."};
  if (why == EADDRINUSE)
    return {"Another daemon listens at " + where +
            ": dynolog itself, or another gapscope attach. Ask that one (dyno gputrace), or end it first."};
  return {"Cannot listen at " + where + ": " + std::strerror(why) + "."};
}

// A socket file without a listener is what a killed daemon left. Other files refuse a connection, too.
void remove_if_dead(const std::string& path, const Address& address) {
  struct stat file {};
  if (lstat(path.c_str(), &file) != 0 || !is_own_socket(file)) return;
  const int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return;
  const bool dead =
      connect(probe, reinterpret_cast<const sockaddr*>(&address.name), address.bytes) != 0 && errno == ECONNREFUSED;
  close(probe);
  if (dead) unlink(path.c_str());
}

void read_credentials(const msghdr& header, Datagram& out) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(const_cast<msghdr*>(&header), part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_CREDENTIALS) continue;
    ucred sender{};
    std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
    out.pid = sender.pid;
    out.uid = sender.uid;
  }
}

}  // namespace

Result<std::unique_ptr<FabricSocket>> FabricSocket::listen(const std::string& folder) {
  const std::string path = folder.empty() ? std::string() : folder + "/" + std::string(kName);
  const std::optional<Address> address = address_of(path);
  if (!address) return listen_trouble(path, ENAMETOOLONG);
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return listen_trouble(path, errno);
  const int on = 1;
  if (!path.empty()) remove_if_dead(path, *address);
  if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
      bind(fd, reinterpret_cast<const sockaddr*>(&address->name), address->bytes) != 0) {
    const int why = errno;
    close(fd);
    return listen_trouble(path, why);
  }
  struct stat own {};
  if (!path.empty() && lstat(path.c_str(), &own) != 0) own = {};
  return std::unique_ptr<FabricSocket>(new FabricSocket(fd, path, own.st_dev, own.st_ino));
}

FabricSocket::~FabricSocket() {
  close(fd_);
  // Another process's may be there by now.
  struct stat file {};
  if (!path_.empty() && lstat(path_.c_str(), &file) == 0 && file.st_dev == device_ && file.st_ino == inode_)
    unlink(path_.c_str());
}

std::optional<Datagram> FabricSocket::receive(std::chrono::milliseconds at_most) {
  pollfd waits{fd_, POLLIN, 0};
  if (poll(&waits, 1, static_cast<int>(at_most.count())) <= 0) return std::nullopt;
  Datagram out;
  out.bytes.resize(kLargestMessage);
  iovec part{out.bytes.data(), out.bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
  msghdr header{};
  header.msg_name = &out.from;
  header.msg_namelen = sizeof out.from;
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t got = recvmsg(fd_, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 || (header.msg_flags & MSG_TRUNC)) return std::nullopt;
  out.bytes.resize(static_cast<std::size_t>(got));
  out.from_bytes = header.msg_namelen;
  read_credentials(header, out);
  return out;
}

bool FabricSocket::send(const Datagram& to, std::string_view bytes) {
  if (to.from_bytes <= offsetof(sockaddr_un, sun_path)) return false;  // it has no name that could be written to
  const auto sent = sendto(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                           reinterpret_cast<const sockaddr*>(&to.from), to.from_bytes);
  return sent == static_cast<ssize_t>(bytes.size());
}

}  // namespace gapscope::attach
