#pragma once
// The socket at which PyTorch looks for its daemon: the abstract Unix datagram socket "dynolog" (with a zero byte behind its
// name), or a file of that name in KINETO_IPC_SOCKET_DIR, as dynolog's ipcfabric/Endpoint.h has it.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include "core/base/result.h"

namespace gapscope::attach {

struct Datagram {
  std::string bytes;
  pid_t pid = 0;  // of the sender, as the kernel says; 0: it does not
  uid_t uid = 0;
  sockaddr_un from{};
  socklen_t from_bytes = 0;
};

class FabricSocket {
 public:
  // The Error: another daemon is listening, or the socket cannot be made. `folder`: KINETO_IPC_SOCKET_DIR; empty: abstract.
  static Result<std::unique_ptr<FabricSocket>> listen(const std::string& folder);
  ~FabricSocket();
  FabricSocket(const FabricSocket&) = delete;
  FabricSocket& operator=(const FabricSocket&) = delete;

  // Waits at most so long; none: nothing came, or a signal did.
  std::optional<Datagram> receive(std::chrono::milliseconds at_most);
  // False: the client is gone, or does not read. Never waits.
  bool send(const Datagram& to, std::string_view bytes);

 private:
  FabricSocket(int fd, std::string path, dev_t device, ino_t inode)
      : fd_(fd), path_(std::move(path)), device_(device), inode_(inode) {}
  int fd_;
  std::string path_;  // to be removed in the end, while it is the same file; empty: abstract
  dev_t device_;
  ino_t inode_;
};

}  // namespace gapscope::attach
