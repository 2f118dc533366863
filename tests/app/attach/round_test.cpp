// One recording of several programs, with clients that do as Kineto's: they poll now and then, look once a second whether it is
// time to warm up, and drop a start that is nearer than their warm-up. The test is their clock.
#include "app/attach/round.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace gapscope;
using namespace gapscope::attach;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

constexpr uid_t kUser = 1000;
constexpr std::int64_t kUnixBegin = 1'700'000'000'000;
constexpr milliseconds kWarming{5000}, kNever{1'000'000'000};

template <class... Numbers>
std::string bytes_of(Numbers... numbers) {
  std::string out;
  (out.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  return out;
}

std::string poll_of(bool can_record, pid_t pid) {
  const std::string body = bytes_of(can_record ? 3 : 1, std::int32_t{1}, std::int64_t{0}, pid);
  char type[32] = "req";
  return bytes_of(std::uint64_t{body.size()}).append(type, sizeof type) + body;
}

std::int64_t number_behind(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  REQUIRE(at != std::string::npos);
  return std::stoll(text.substr(at + key.size()));
}

struct Client {
  pid_t pid;
  milliseconds every, next_poll, tick = 1000ms;  // how long after it was asked it looks
  int rank = -1, most_polls = 1000;
  std::vector<pid_t> below = {};
  // Of what it was asked:
  bool waits = false, records = false, writes = true;
  milliseconds looks{}, start{};
  // What became of it.
  int asked = 0, refused = 0, polls = 0;
  std::vector<milliseconds> recorded = {};
};

class World {
 public:
  explicit World(std::vector<Client> clients) : clients_(std::move(clients)) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void run(milliseconds until) {
    for (; now_ < until; now_ += 100ms) {
      for (Client& client : clients_) poll(client), look(client);
      programs.check(
          [this](const std::string& path) { return files_.contains(path) ? TraceFile::written : TraceFile::missing; },
          [](pid_t) { return true; }, moment().steady);
      round.go_on(programs, moment());
      for (std::string& sentence : round.take_news()) news.push_back(std::move(sentence));
    }
  }
  void record(const std::vector<pid_t>& pids) { round.begin(programs, pids, Capture{}, "/there", moment()); }
  Moment moment() const { return {Clock::time_point(now_), kUnixBegin + now_.count()}; }
  const Client& of(pid_t pid) const {
    return *std::find_if(clients_.begin(), clients_.end(), [pid](auto& c) { return c.pid == pid; });
  }
  Stage stage(pid_t pid) const { return programs.find(pid)->stage; }
  std::string said() const {
    std::string out;
    for (const std::string& sentence : news) out += sentence + "\n";
    return out;
  }

  Programs programs{kUser, [this](pid_t pid) {
                      const Client& client = of(pid);
                      return ProcessFacts{"python3 train.py", client.rank, client.rank < 0 ? 0 : 4, "here:1", client.below};
                    }};
  Round round;
  std::vector<std::string> news;

 private:
  void poll(Client& client) {
    if (now_ < client.next_poll || client.polls == client.most_polls) return;
    client.next_poll += client.every;
    ++client.polls;
    const std::string reply =
        programs.answer(poll_of(!client.records, client.pid), client.pid, kUser, moment().steady).substr(40);
    if (reply.empty()) return;
    ++client.asked;
    REQUIRE_FALSE(client.waits);
    const std::int64_t start_ms = number_behind(reply, "PROFILE_START_TIME=");
    client.start = start_ms == 0 ? now_ + kWarming + 10s : milliseconds(start_ms - kUnixBegin);
    client.looks = now_ + client.tick;
    client.waits = true;
  }

  void look(Client& client) {
    if (client.waits && now_ >= client.looks && now_ + 1s >= client.start - kWarming) {
      client.waits = false;
      client.records = client.start - now_ >= kWarming;
      client.refused += !client.records;
    }
    if (!client.records || now_ < client.start + 800ms) return;
    client.records = false;
    client.recorded.push_back(client.start);
    if (client.writes) files_.insert(programs.find(client.pid)->request.trace);
  }

  std::vector<Client> clients_;
  std::set<std::string> files_;
  milliseconds now_{0};
};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("attach: programs that poll every 5, 10 and 15 s, each in its own turn, record the same moment") {
  int rounds = 0;
  for (const milliseconds first : {5000ms, 10000ms, 15000ms})
    for (const milliseconds second : {5000ms, 10000ms, 15000ms})
      for (milliseconds behind = 0ms; behind < second; behind += 300ms)
        for (const milliseconds from : {31000ms, 33300ms, 35800ms, 37500ms}) {  // all have polled twice
          CAPTURE(first.count());
          CAPTURE(second.count());
          CAPTURE(behind.count());
          World world({{1, first, 0ms}, {2, second, behind}});
          world.run(from);
          world.record({1, 2});
          world.run(from + 60s);
          for (const pid_t pid : {1, 2}) {
            REQUIRE(world.of(pid).refused == 0);
            REQUIRE(world.of(pid).asked == 1);
            REQUIRE(world.stage(pid) == Stage::written);
          }
          REQUIRE(world.of(1).recorded == world.of(2).recorded);
          REQUIRE(world.news.empty());
          REQUIRE(world.round.losses(world.programs).empty());
          ++rounds;
        }
  CHECK(rounds == 3 * 4 * (17 + 34 + 50));
}

TEST_CASE("attach: programs that poll every 5 or 10 s need not have been seen twice") {
  for (const milliseconds every : {5000ms, 10000ms})
    for (milliseconds behind = 0ms; behind < every; behind += 100ms) {
      CAPTURE(behind.count());
      World world({{1, 10000ms, 0ms}, {2, every, behind}});
      world.run(behind + 200ms);
      world.record({1, 2});
      world.run(60s);
      REQUIRE(world.of(1).recorded.size() == 1);
      REQUIRE(world.of(1).recorded == world.of(2).recorded);
      REQUIRE(world.of(1).refused + world.of(2).refused == 0);
    }
}

TEST_CASE("attach: one that asks too late for the others' start is not sent it, and is asked again with more room") {
  World world({{1, 5000ms, 0ms, 1000ms, 0}, {2, 15000ms, 0ms, 1000ms, 1}});
  world.run(200ms);  // that the second takes 15 s is not known
  world.record({1, 2});
  world.run(80s);
  CHECK(world.of(1).recorded.size() == 1);
  CHECK(world.of(2).refused == 0);
  CHECK(world.of(2).asked == 1);
  REQUIRE(world.of(2).recorded.size() == 1);
  CHECK(holds(world.said(), "Process 2 (rank 1) asked 3.20 s before the start"));
  CHECK(holds(world.said(), "insufficient time for warmup"));
  CHECK(holds(world.said(), "Trying again with more time (try 2 of 3)"));
  REQUIRE(world.round.losses(world.programs).size() == 1);
  CHECK(holds(world.round.losses(world.programs)[0], "Process 2 (rank 1) was recorded "));
  CHECK(holds(world.round.losses(world.programs)[0], "after the others"));
}

TEST_CASE("attach: where no program was sent the start yet, it moves for all") {
  World world({{1, 15000ms, 0ms}, {2, 15000ms, 100ms}});
  world.run(200ms);
  world.record({1, 2});
  world.run(80s);
  CHECK(world.of(1).recorded.size() == 1);
  CHECK(world.of(1).recorded == world.of(2).recorded);
  CHECK(world.of(1).refused + world.of(2).refused == 0);
  CHECK(world.round.losses(world.programs).empty());
}

TEST_CASE("attach: one that could record again after the start has refused, and is asked again with more room") {
  World world({{1, 5000ms, 0ms}, {2, 5000ms, 200ms, 14000ms}});  // the second one looks when it is too late
  world.run(11s);
  world.record({1, 2});
  world.run(100s);
  CHECK(world.of(2).refused == 2);
  CHECK(world.of(2).asked == 3);
  CHECK(world.of(2).recorded.size() == 1);
  CHECK(world.stage(2) == Stage::written);
  CHECK(holds(world.said(), "Process 2 has not started to record. The request was "));
  CHECK(holds(world.said(), "\"Not starting tracing - insufficient time for warmup\""));
  CHECK(holds(world.said(), "try 3 of 3"));
  CHECK(world.of(1).asked == 1);
  CHECK(world.stage(1) == Stage::written);
}

TEST_CASE("attach: one that refuses three times is lost, with what is known of the reason") {
  struct Refuser {
    Programs programs{kUser, [](pid_t) { return ProcessFacts{"python3", 1, 0, "", {}}; }};
    Round round;
    int asked = 0;
    std::string said;
    void run(const std::vector<pid_t>& pids, milliseconds until) {
      milliseconds now = 0ms;
      const auto moment = [&now] { return Moment{Clock::time_point(now), kUnixBegin + now.count()}; };
      for (; now < until; now += 5s) {
        for (const pid_t pid : pids) asked += programs.answer(poll_of(true, pid), pid, kUser, moment().steady).size() > 40;
        if (now == 5s) round.begin(programs, pids, Capture{}, "/there", moment());
        programs.check([](const std::string&) { return TraceFile::missing; }, [](pid_t) { return true; }, moment().steady);
        round.go_on(programs, moment());
        for (const std::string& sentence : round.take_news()) said += sentence + "\n";
      }
    }
  };
  Refuser refuser;
  SUBCASE("of several") {
    refuser.run({7, 8}, 300s);
    CHECK(refuser.asked == 6);
    CHECK(holds(refusal_of(*refuser.programs.find(7)), "insufficient time for warmup"));
  }
  SUBCASE("one, at a time of its own choice") {
    refuser.run({7}, 300s);
    CHECK(refuser.asked == 3);
    CHECK(holds(refuser.said, "PyTorch does not report why"));
  }
  CHECK(refuser.programs.find(7)->stage == Stage::lost);
  CHECK(holds(refuser.said, "Process 7 (rank 1) has not started to record"));
  CHECK(holds(refuser.said, "try 3 of 3"));
}

TEST_CASE("attach: one that has recorded and written nothing is not asked again") {
  Client mute{2, 5000ms, 200ms};
  mute.writes = false;
  World world({{1, 5000ms, 0ms}, mute});
  world.run(11s);
  world.record({1, 2});
  world.run(60s);
  CHECK(world.stage(1) == Stage::written);
  CHECK(world.of(2).asked == 1);
  CHECK(world.stage(2) == Stage::lost);
  CHECK(world.programs.find(2)->loss == Loss::no_trace);
}

TEST_CASE("attach: one that has asked once and never again is not waited for") {
  World world({{1, 5000ms, 0ms}, {2, 5000ms, 300ms, 1000ms, -1, 1}});
  world.run(11s);
  world.record({1, 2});
  world.run(70s);
  CHECK(world.stage(1) == Stage::written);
  CHECK(world.stage(2) == Stage::lost);
  CHECK(holds(refusal_of(*world.programs.find(2)), "Process 2 has not polled again"));
}

TEST_CASE("attach: ranks that come before anybody was sent the start begin with those that wait") {
  World world({{1, 10000ms, 0ms, 1000ms, 0}, {2, 5000ms, 13000ms, 1000ms, 1}, {3, 5000ms, 18000ms, 1000ms, 2}});
  world.run(11s);
  world.record({1});
  for (const pid_t pid : {2, 3}) {
    world.run(world.of(pid).next_poll + 200ms);
    world.round.add(world.programs, pid, world.moment());
    world.round.add(world.programs, pid, world.moment());  // again
  }
  world.run(80s);
  CHECK(world.of(1).recorded.size() == 1);
  CHECK(world.of(1).recorded == world.of(2).recorded);
  CHECK(world.of(1).recorded == world.of(3).recorded);
  CHECK(world.news.size() == 2);
  CHECK(holds(world.said(), "Process 2 (rank 1) has polled"));
  CHECK(world.round.losses(world.programs).empty());
}

TEST_CASE("attach: a rank that comes when others were sent the start begins with them, while there is time") {
  World world({{1, 5000ms, 0ms, 1000ms, 0},
               {2, 5000ms, 100ms, 1000ms, 1},
               {3, 5000ms, 16000ms, 1000ms, 2},
               {4, 5000ms, 22000ms, 1000ms, 3}});
  world.run(11s);
  world.record({1, 2});
  world.run(16200ms);
  REQUIRE(world.stage(1) == Stage::asked);
  world.round.add(world.programs, 3, world.moment());
  world.run(22200ms);
  world.round.add(world.programs, 4, world.moment());
  world.round.add(world.programs, 4, world.moment());
  world.run(80s);
  CHECK(world.of(1).recorded.size() == 1);
  CHECK(world.of(1).recorded == world.of(3).recorded);
  CHECK(world.of(4).asked == 0);
  CHECK(holds(world.said(), "Process 4 (rank 3) polled too late"));
  REQUIRE(world.round.losses(world.programs).size() == 1);
  CHECK(holds(world.round.losses(world.programs)[0], "Process 4 (rank 3) came too late"));
}

TEST_CASE("attach: what has only started ranks that ask is left out, also when it was chosen before they asked") {
  World world({{1, 10000ms, 0ms, 1000ms, -1, 1000, {2, 9}}, {2, 5000ms, 12000ms, 1000ms, 0}});
  world.run(11s);
  CHECK_FALSE(world.programs.is_launcher(*world.programs.find(1)));  // no program below it asks
  world.record({1});
  world.run(12200ms);
  CHECK(world.programs.is_launcher(*world.programs.find(1)));
  CHECK_FALSE(world.programs.is_launcher(*world.programs.find(2)));
  world.round.add(world.programs, 2, world.moment());
  world.run(80s);
  CHECK(world.of(1).asked == 0);
  CHECK(world.round.pids() == std::vector<pid_t>{2});
  CHECK(world.of(2).recorded.size() == 1);
}

TEST_CASE("attach: after the end of a round no program is asked again") {
  World world({{1, 5000ms, 0ms, kNever}, {2, 5000ms, 100ms}});
  world.run(11s);
  world.record({1, 2});
  world.run(20s);
  world.round.end();
  world.run(80s);
  CHECK(world.of(1).asked == 1);
  CHECK(world.stage(1) == Stage::lost);
  CHECK(world.news.empty());
}

TEST_CASE("attach: of a job of four ranks on this machine it is said which asked") {
  World world({{1, 5000ms, 0ms, 1000ms, 0}, {2, 5000ms, 100ms, 1000ms, 2}, {3, 5000ms, 200ms}});
  world.run(1s);
  std::vector<const Program*> programs;
  for (const Program& program : world.programs.all()) programs.push_back(&program);
  const std::vector<std::string> missing = missing_ranks(programs);
  REQUIRE(missing.size() == 1);
  CHECK(holds(missing[0], "Of the 4 ranks of a job on this machine, 2 polled: rank 0, 2."));
  CHECK(missing_ranks({programs[2]}).empty());
}
