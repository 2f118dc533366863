#include "app/window/desktop/virtual_display.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace gapscope {
namespace {

constexpr int kStartTimeoutMs = 15'000;  // a cold, busy machine takes about two seconds
constexpr int kStopTimeoutMs = 2'000;
constexpr int kLookEveryMs = 2;
// The size of the screen does not limit what is rendered: that goes into a framebuffer object.
constexpr const char* kScreen = "1280x1024x24";

// In the child: only calls that are safe after fork.
[[noreturn]] void become_xvfb(int report_fd) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // do not outlive a Gapscope that crashes
  const int report_target = 3;
  if (report_fd == report_target) {
    fcntl(report_fd, F_SETFD, 0);
  } else {
    dup2(report_fd, report_target);
  }
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  execlp("Xvfb", "Xvfb", "-displayfd", "3", "-screen", "0", kScreen, "+extension", "GLX", "-nolisten", "tcp", "-noreset",
         static_cast<char*>(nullptr));
  _exit(127);
}

// Xvfb writes its number and a newline once it is ready. Empty when it died or took too long.
std::string read_display_number(int fd) {
  std::string text;
  char byte = 0;
  pollfd ready{fd, POLLIN, 0};
  while (poll(&ready, 1, kStartTimeoutMs) == 1 && read(fd, &byte, 1) == 1) {
    if (byte == '\n') return text;
    text += byte;
  }
  return {};
}

// One that does not end when it is asked to is killed: the picture is taken already.
void stop(int process) {
  kill(process, SIGTERM);
  for (int waited_ms = 0; waited_ms < kStopTimeoutMs; waited_ms += kLookEveryMs) {
    if (waitpid(process, nullptr, WNOHANG) != 0) return;
    poll(nullptr, 0, kLookEveryMs);
  }
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

}  // namespace

bool has_display() { return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"); }

Result<std::unique_ptr<VirtualDisplay>> VirtualDisplay::start() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return Error{"Cannot start Xvfb: no pipe could be made. Close some programs."};
  const int process = fork();
  if (process == 0) become_xvfb(fds[1]);
  close(fds[1]);
  const std::string number = process > 0 ? read_display_number(fds[0]) : std::string();
  close(fds[0]);
  if (number.empty()) {
    if (process > 0) stop(process);
    return Error{"No display, and Xvfb did not start in its place: install it (apt install xvfb) or set DISPLAY."};
  }
  return std::unique_ptr<VirtualDisplay>(new VirtualDisplay(process, ":" + number));
}

VirtualDisplay::VirtualDisplay(int process, const std::string& display) : process_(process) {
  setenv("DISPLAY", display.c_str(), 1);
}

VirtualDisplay::~VirtualDisplay() {
  unsetenv("DISPLAY");
  stop(process_);
}

}  // namespace gapscope
