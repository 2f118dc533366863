// Running programs recorded from the window: a client that plays PyTorch's part, alongside a whole session.
#include "app/session/program_recorder.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include <doctest/doctest.h>

#include <chrono>
#include <semaphore>

#include "app/attach/capture.h"
#include "app/attach/session.h"
#include "app/session/session.h"
#include "tests/support/process_state.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tiny_traces.h"

using namespace gapscope;
using namespace std::chrono_literals;

namespace {

sockaddr_un address_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Asks at each turn, and writes a trace as soon as it knows where.
class Client {
 public:
  explicit Client(const std::string& folder)
      : daemon_(address_at(folder + "/dynolog")), fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const sockaddr_un own = address_at(folder + "/client");
    REQUIRE(bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0);
  }
  ~Client() { close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void turn() {
    std::string text(8192, '\0');
    const ssize_t got = recv(fd_, text.data(), text.size(), 0);
    if (got > 40) write_trace(text.substr(40, static_cast<std::size_t>(got) - 40));
    const std::int32_t what = 3, count = 1, pid = getpid();
    const std::int64_t job = 0;
    const std::uint64_t size = 20;
    std::string poll(40 + size, '\0');
    std::memcpy(poll.data(), &size, 8);
    std::memcpy(poll.data() + 8, "req", 3);
    std::memcpy(poll.data() + 40, &what, 4);
    std::memcpy(poll.data() + 44, &count, 4);
    std::memcpy(poll.data() + 48, &job, 8);
    std::memcpy(poll.data() + 56, &pid, 4);
    sendto(fd_, poll.data(), poll.size(), 0, reinterpret_cast<const sockaddr*>(&daemon_), sizeof daemon_);
  }
  std::vector<std::string> configurations;
  bool writes = true;

 private:
  void write_trace(const std::string& configuration) {
    configurations.push_back(configuration);
    const std::size_t begin = configuration.find('=') + 1;
    const std::string path = configuration.substr(begin, configuration.find('\n') - begin);
    if (writes) std::ofstream(attach::written_path(path, getpid())) << test::kOneLaunch;
  }
  sockaddr_un daemon_;
  int fd_;
};

struct Desk {
  Desk() = default;
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;

  template <class Test>
  void poll_until(Test test) {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!test()) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      (void)woken.try_acquire_for(20ms);
      client.turn();
      session.poll(view);
      session.fill(in);
    }
  }
  RecordPrograms task() const { return {{getpid()}, 100'000'000, true, false, false, folder.path().string(), false}; }
  std::string path_of(const Document* document) const { return document ? document->trace.path : ""; }

  test::TempFolder folder, sockets;
  test::SetVariable socket_folder{"KINETO_IPC_SOCKET_DIR", sockets.path().string()};
  Client client{sockets.path().string()};
  std::counting_semaphore<> woken{0};
  ViewState view;
  FrameInput in;
  Session session{{{}, {}, folder.path().string(), [this] { woken.release(); }, {}}};
};

}  // namespace

TEST_CASE("program recorder: a program is listed when it asks, recorded when it is chosen, and its trace is opened") {
  Desk desk;
  desk.session.carry_out(ListenForPrograms{true});
  desk.poll_until([&] { return desk.in.attach && !desk.in.attach->programs.empty(); });
  CHECK(desk.in.attach->programs[0].pid == getpid());
  CHECK_FALSE(desk.in.attach->programs[0].recording);
  desk.session.carry_out(desk.task());
  desk.poll_until([&] { return desk.session.document() != nullptr; });
  REQUIRE(desk.client.configurations.size() == 1);
  CHECK(desk.client.configurations[0].find("ACTIVITIES_DURATION_MSECS=100\n") != std::string::npos);
  CHECK(desk.client.configurations[0].find("PROFILE_REPORT_INPUT_SHAPES=true\n") != std::string::npos);
  CHECK(desk.path_of(desk.session.document()).starts_with(desk.folder.path().string() + "/attach-"));
  desk.poll_until([&] { return desk.in.attach->recordings == 1; });
  CHECK_FALSE(desk.in.attach->recording);
}

TEST_CASE("program recorder: recorded again, the new trace is compared with the one before") {
  Desk desk;
  desk.session.carry_out(RecordAgain{});  // of nothing
  desk.session.carry_out(desk.task());    // while nothing listens
  desk.poll_until([&] { return desk.session.document() != nullptr; });
  const std::string first = desk.path_of(desk.session.document());
  desk.session.carry_out(RecordAgain{});
  desk.poll_until([&] { return desk.session.second() != nullptr; });
  const std::string second = desk.path_of(desk.session.second());
  CHECK(desk.path_of(desk.session.document()) == first);
  CHECK(second != first);
  desk.session.carry_out(RecordAgain{});
  desk.poll_until(
      [&] { return desk.path_of(desk.session.second()) != second && desk.path_of(desk.session.second()) != first; });
  CHECK(desk.path_of(desk.session.document()) == second);
}

TEST_CASE("program recorder: a second daemon is said, and listened next to it no longer than it is there") {
  Desk desk;
  auto other = attach::Session::open();
  REQUIRE(other.ok());
  desk.session.carry_out(ListenForPrograms{true});
  desk.poll_until([&] { return desk.in.attach && !desk.in.attach->trouble.empty(); });
  CHECK(desk.in.attach->trouble.find("Another daemon listens") != std::string::npos);
  desk.session.carry_out(desk.task());
  desk.poll_until([&] { return !desk.in.attach->said.empty(); });
  other->reset();
  desk.poll_until([&] { return !desk.in.attach->programs.empty(); });
  CHECK(desk.in.attach->trouble.empty());
  desk.session.carry_out(ListenForPrograms{false});
  desk.poll_until([&] { return attach::Session::open().ok(); });
}

TEST_CASE("program recorder: a recording is cancelled before and after its program was asked") {
  Desk desk;
  desk.client.writes = false;
  RecordPrograms never = desk.task();
  never.pids = {1};  // lives, and does not ask
  desk.session.carry_out(ListenForPrograms{true});
  desk.session.carry_out(never);
  desk.poll_until([&] { return desk.in.attach && desk.in.attach->recording && desk.in.attach->to_ask == 1; });
  desk.session.carry_out(CancelRecording{});
  desk.poll_until([&] { return !desk.in.attach->recording; });
  CHECK(desk.in.attach->said.empty());
  desk.session.carry_out(desk.task());
  desk.poll_until([&] { return desk.in.attach->to_write == 1; });
  desk.session.carry_out(CancelRecording{});
  desk.poll_until([&] { return !desk.in.attach->recording; });
  CHECK(desk.in.attach->said.find("continues to record and writes") != std::string::npos);
  CHECK(desk.in.attach->programs.at(0).recording);  // and cannot be asked again meanwhile
}

TEST_CASE("program recorder: what cannot be recorded is said, on the page or without it in the window") {
  Desk desk;
  RecordPrograms nowhere = desk.task();
  nowhere.folder = desk.folder.path().string() + "/missing";
  desk.session.carry_out(nowhere);
  desk.poll_until([&] { return !desk.session.message().empty(); });
  CHECK(desk.session.message().find("no folder can be made there") != std::string::npos);
  desk.session.carry_out(DismissMessage{});
  desk.session.carry_out(ListenForPrograms{true});
  desk.session.carry_out(nowhere);
  desk.poll_until([&] { return desk.in.attach && !desk.in.attach->said.empty() && !desk.in.attach->recording; });
  CHECK(desk.session.message().empty());
  CHECK(desk.session.document() == nullptr);
}
