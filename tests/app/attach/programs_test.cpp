// The daemon's side of Kineto's protocol without a socket: messages as a client writes them, and what becomes of a program.
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "app/attach/capture.h"
#include "app/attach/programs.h"
#include "app/attach/recorded_facts.h"

using namespace gapscope;
using namespace gapscope::attach;

namespace {

template <class... Numbers>
std::string bytes_of(Numbers... numbers) {
  std::string out;
  (out.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  return out;
}

std::string datagram(const char* type, const std::string& body) {
  char padded[32] = {};
  std::strncpy(padded, type, sizeof padded - 1);
  return bytes_of(std::uint64_t{body.size()}).append(padded, sizeof padded) + body;
}

std::string poll_of(std::int32_t what, std::int64_t job, std::int32_t pid, std::int32_t parent) {
  return datagram("req", bytes_of(what, std::int32_t{2}, job, pid, parent));
}

// What is in a reply, behind its header.
std::string body_of(const std::string& reply) {
  REQUIRE(reply.size() >= 40);
  std::uint64_t size = 0;
  std::memcpy(&size, reply.data(), sizeof size);
  CHECK(size == reply.size() - 40);
  return reply.substr(40);
}

constexpr uid_t kUser = 1000;
constexpr std::int32_t kEventsAndActivities = 3, kEvents = 1;
constexpr Clock::time_point kBegin{};

struct Table {
  Programs programs{kUser, [](pid_t pid) { return ProcessFacts{"python3 train.py", pid == 70 ? 3 : -1, 0, {}, {}}; }};
  std::string poll(pid_t pid, std::int32_t what = kEventsAndActivities, uid_t user = kUser) {
    return programs.answer(poll_of(what, 9, 7, 5), pid, user, kBegin);
  }
  void check(TraceFile file, bool lives, Clock::time_point now = kBegin) {
    programs.check([=](const std::string&) { return file; }, [=](pid_t) { return lives; }, now);
  }
  Stage stage() const { return programs.all().at(0).stage; }
};

const Request kRequest{"KEY=value\n", "/there/rank3_7.json", std::chrono::seconds(10), {}, {}};

}  // namespace

TEST_CASE("attach: a program that polls is listed with what is known of it, and gets an empty configuration") {
  Table table;
  CHECK(body_of(table.poll(70)).empty());
  CHECK(body_of(table.poll(70)).empty());
  REQUIRE(table.programs.all().size() == 1);
  const Program& program = table.programs.all()[0];
  CHECK(program.pid == 70);
  CHECK(program.own_pid() == 7);
  CHECK(program.job == 9);
  CHECK_FALSE(program.facts);  // no test waits for that
  table.check(TraceFile::missing, true);
  REQUIRE(program.facts);
  CHECK(program.facts->rank == 3);
  CHECK(program.has_pid(70));
  CHECK(program.has_pid(5));
  CHECK_FALSE(program.has_pid(6));
}

TEST_CASE("attach: a chosen program gets its configuration once, at the first poll at which it can record") {
  Table table;
  table.poll(70);
  table.programs.choose(70, kRequest, kBegin);
  CHECK(body_of(table.poll(70, kEvents)).empty());
  CHECK(table.programs.all()[0].busy);
  CHECK(table.stage() == Stage::chosen);
  CHECK(body_of(table.poll(70)) == "KEY=value\n");
  CHECK(table.stage() == Stage::asked);
  CHECK(body_of(table.poll(70)).empty());
}

TEST_CASE("attach: a trace has come when its file is there; without it the program's end or the time ends the waiting") {
  Table table;
  table.poll(70);
  table.programs.choose(70, kRequest, kBegin);
  table.check(TraceFile::written, /*lives=*/true);
  CHECK(table.stage() == Stage::chosen);  // a file from before is not its trace
  table.poll(70);
  table.check(TraceFile::missing, true, kBegin + std::chrono::seconds(10));
  CHECK(table.stage() == Stage::asked);
  SUBCASE("written") {
    table.check(TraceFile::written, false);
    CHECK(table.stage() == Stage::written);
  }
  SUBCASE("the program ends") {
    table.check(TraceFile::missing, false);
    CHECK(table.stage() == Stage::lost);
  }
  SUBCASE("too late") {
    table.check(TraceFile::missing, true, kBegin + std::chrono::seconds(11));
    CHECK(table.stage() == Stage::lost);
  }
  SUBCASE("the disk is full") {
    table.check(TraceFile::no_room, true);
    CHECK(table.stage() == Stage::lost);
    CHECK(table.programs.all()[0].loss == Loss::no_room);
  }
}

TEST_CASE("attach: a request that is withdrawn is not sent, and one that was sent continues") {
  Table table;
  table.poll(70);
  table.programs.choose(70, kRequest, kBegin);
  table.programs.withdraw(70);
  CHECK(body_of(table.poll(70)).empty());
  table.programs.choose(70, kRequest, kBegin);
  table.poll(70);
  table.programs.withdraw(70);
  CHECK(table.stage() == Stage::asked);
}

TEST_CASE("attach: another user's program gets no answer and is not listed") {
  Table table;
  CHECK(table.poll(70, kEventsAndActivities, kUser + 1).empty());
  CHECK(table.programs.all().empty());
}

TEST_CASE("attach: contexts are counted by GPU, whether they come before or after the first poll") {
  Table table;
  const auto context = [&](std::int32_t gpu, pid_t pid) {
    std::int32_t count = 0;
    const std::string body =
        body_of(table.programs.answer(datagram("ctxt", bytes_of(gpu, std::int32_t{7}, std::int64_t{0})), pid, kUser, kBegin));
    REQUIRE(body.size() == sizeof count);
    std::memcpy(&count, body.data(), sizeof count);
    return count;
  };
  CHECK(context(0, 70) == 1);
  CHECK(context(0, 71) == 2);
  table.poll(70);
  CHECK(context(1, 70) == 1);
  CHECK(table.programs.all()[0].gpus == std::set<std::int32_t>{0, 1});
}

TEST_CASE("attach: what is no message of a client's gets no answer") {
  Table table;
  const auto answer = [&](const std::string& bytes) { return table.programs.answer(bytes, 70, kUser, kBegin); };
  CHECK(answer("").empty());
  CHECK(answer(datagram("other", bytes_of(std::int64_t{0}))).empty());
  CHECK(answer(datagram("req", bytes_of(3, 3, std::int64_t{0}, 7))).empty());  // fewer pids than it says
  CHECK(answer(datagram("req", bytes_of(3, 0, std::int64_t{0}))).empty());     // none at all
  CHECK(answer(datagram("req", bytes_of(3, -1, std::int64_t{0}, 7))).empty());
  CHECK(answer(datagram("ctxt", bytes_of(std::int32_t{0}))).empty());
  std::string longer = poll_of(kEventsAndActivities, 0, 7, 5);
  longer += "x";  // than its header says
  CHECK(answer(longer).empty());
  std::mt19937 random(42);
  for (int i = 0; i < 10'000; ++i) {
    std::string bytes = i % 2 ? poll_of(kEventsAndActivities, 0, 7, 5) : std::string(random() % 200, '\0');
    for (int changes = static_cast<int>(random() % 8); changes >= 0 && !bytes.empty(); --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 3 == 0) bytes.resize(random() % (bytes.size() + 1));
    answer(bytes);
  }
  CHECK(table.programs.all().size() <= 1);
}

TEST_CASE("attach: a configuration asks for what was chosen and nothing else") {
  Capture capture;
  capture.shapes = true;
  CHECK(configuration_text(capture, "/a/rank3.json", 17) ==
        "ACTIVITIES_LOG_FILE=/a/rank3.json\nACTIVITIES_WARMUP_PERIOD_SECS=5\nPROFILE_START_TIME=17\n"
        "ACTIVITIES_DURATION_MSECS=500\nPROFILE_REPORT_INPUT_SHAPES=true\nPROFILE_PROFILE_MEMORY=false\n"
        "PROFILE_WITH_STACK=false\nPROFILE_WITH_MODULES=false\n");
  capture.iterations = 3;
  const std::string by_steps = configuration_text(capture, "/a", 17);
  CHECK(by_steps.find("ACTIVITIES_ITERATIONS=3\n") != std::string::npos);
  CHECK(by_steps.find("DURATION") == std::string::npos);
  CHECK(written_path("/a.b/rank3.json", 7) == "/a.b/rank3_7.json");
  CHECK(path_trouble("/a b/c-d.json").empty());
  CHECK_FALSE(path_trouble("/a/lr=0.1/d.json").empty());
  CHECK_FALSE(path_trouble("/a\nENABLE_SIGUSR2=yes").empty());
}

TEST_CASE("attach: a recording is slow against the median of those before") {
  CHECK(median({}) == std::nullopt);
  CHECK(median({5, 1, 9, 3}) == Ns{3});
  const std::vector<Ns> before{100, 100, 130};
  CHECK(is_slow(131, before, 1.3));
  CHECK_FALSE(is_slow(130, before, 1.3));
  CHECK(is_slow(1, {}, 1.3));
}
