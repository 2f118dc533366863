// The recorded pairs: TraceLens' tables cell by cell, the planted delay, a clock that is off, files that are bad.
#include <fstream>
#include <map>
#include <sstream>

#include <sys/stat.h>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "app/cli/ranks.h"
#include "core/load/load_trace.h"
#include "tests/support/naive_trace.h"
#include "tests/support/real_traces.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;
using nlohmann::json;

namespace {

using Cells = std::vector<std::vector<std::string>>;

Cells cells_of(std::istream& in) {
  Cells out;
  for (std::string line; std::getline(in, line);) {
    out.emplace_back(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"')
        quoted = !quoted;
      else if (c == ',' && !quoted)
        out.back().emplace_back();
      else
        out.back().back() += c;
    }
  }
  return out;
}

bool same(const std::string& a, const std::string& b) {
  if (a == b) return true;
  char *end_a = nullptr, *end_b = nullptr;
  const double x = std::strtod(a.c_str(), &end_a), y = std::strtod(b.c_str(), &end_b);
  if (a.empty() || b.empty() || *end_a != 0 || *end_b != 0) return false;
  return std::abs(x - y) <= std::max(1e-3, 1e-6 * std::abs(x));
}

std::vector<std::string> pair_of(const std::string& name) {
  return {recording(name + "_rank0").string(), recording(name + "_rank1").string()};
}

RanksOutput answer_of(std::vector<std::string> paths, std::optional<RunTable> csv = std::nullopt,
                      ClockAlignment alignment = ClockAlignment::collectives) {
  LocalReader reader;
  return ranks_answer({std::move(paths), !csv, csv, alignment}, reader);
}

json json_of(std::vector<std::string> paths) { return json::parse(answer_of(std::move(paths)).text); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the tables of each recorded pair are those of TraceLens, cell by cell") {
  std::size_t tables = 0;
  for (const char* name : {"ddp", "ddp_delayed", "fsdp", "tp"})
    for (const auto& entry : {std::pair("sync", RunTable::sync),
                              {"summary", RunTable::summary},
                              {"straggler", RunTable::straggler},
                              {"alltoall", RunTable::alltoall}}) {
      const char* word = entry.first;
      const RunTable table = entry.second;
      std::ifstream file(recordings_folder() / "ranks" / (std::string(name) + ".tracelens." + word + ".csv"));
      if (!file) continue;
      ++tables;
      CAPTURE(std::string(name));
      CAPTURE(std::string(word));
      std::istringstream mine(answer_of(pair_of(name), table, ClockAlignment::none).text);
      Cells expected = cells_of(file), found = cells_of(mine);
      REQUIRE(found.size() == expected.size());
      CHECK(found[0] == expected[0]);
      if (table == RunTable::alltoall)
        std::sort(expected.begin() + 1, expected.end()), std::sort(found.begin() + 1, found.end());  // there in no order
      for (std::size_t row = 1; row < expected.size(); ++row)
        for (std::size_t column = 0; column < expected[row].size(); ++column)
          if (found[row].size() != expected[row].size() || !same(expected[row][column], found[row][column]))
            FAIL_CHECK(expected[row][0], " ", expected[0][column], ": ", expected[row][column], " is ",
                       column < found[row].size() ? found[row][column] : "missing");
    }
  CHECK(tables == 13);
}

TEST_CASE("the planted delay is found: who, in which step, how long, and in what") {
  const json out = json_of(pair_of("ddp_delayed"));
  json keys = json::array();
  for (const auto& [key, value] : out.items()) keys.push_back(key);
  CHECK(keys == json({"collectives", "findings", "late", "problems", "ranks", "sentence", "unmatched"}));
  CHECK(out["problems"].empty());
  CHECK(out["ranks"].size() == 2);
  CHECK(out["ranks"][0]["times_first"] == 65);
  CHECK(out["ranks"][1]["times_last"] == 65);
  const json* worst = nullptr;
  for (const json& late : out["late"])
    if (worst == nullptr || late["lost_ns"] > (*worst)["lost_ns"]) worst = &late;
  REQUIRE(worst != nullptr);
  CHECK((*worst)["rank"] == 1);
  CHECK((*worst)["step"] == "ProfilerStep#5");
  CHECK((*worst)["lost_ns"] > 20'000'000);
  CHECK((*worst)["doing"][0]["name"] == "planted_delay");
  CHECK((*worst)["doing"][0]["ns"] > 18'000'000);
  for (const json& rank : out["ranks"]) {
    const json& a = rank["account"];
    std::int64_t parts = a["transfer"].get<std::int64_t>() + a["unsplit"].get<std::int64_t>();
    for (const json& time : a["waiting_for"]) parts += time.get<std::int64_t>();
    CHECK(parts == a["exposed_communication"]);
  }
}

TEST_CASE("of each pair the late rank is named, and what is matched is all that can be") {
  for (const auto& expected :
       {std::tuple("ddp", 0, 65), {"ddp_delayed", 1, 65}, {"fsdp", 1, 90}, {"tp", 1, 200}, {"pp", 0, 20}}) {
    const char* name = std::get<0>(expected);
    const int late = std::get<1>(expected), matched = std::get<2>(expected);
    CAPTURE(std::string(name));
    const json out = json_of(pair_of(name));
    CHECK(out["collectives"].size() == static_cast<std::size_t>(matched));
    for (const json& step : out["late"]) CHECK(step["rank"] == late);
    CHECK(out["late"].size() == 5);
    LocalReader reader;
    const RanksOutput text = ranks_answer({.paths = pair_of(name)}, reader);
    CHECK(text.text.starts_with("Rank " + std::to_string(late) + " is late: "));
    CHECK(text.code == 0);
  }
}

TEST_CASE("the first line shows whose time was lost, in which steps, and what the late rank did meanwhile") {
  const auto line_of = [](const char* name) {
    LocalReader reader;
    const std::string text = ranks_answer({.paths = pair_of(name)}, reader).text;
    return text.substr(0, text.find('\n'));
  };
  CHECK(line_of("fsdp") ==
        "Rank 1 is late: rank 0 waits 136 ms for it, 76.8 % of rank 0's time, 24.7 ms to 29.0 ms in each of the 5 steps. "
        "Meanwhile its GPU was idle for 132 ms of 143 ms: Python 69.7 ms, operators 47.9 ms.");
  CHECK(line_of("ddp_delayed") ==
        "Rank 1 is late: rank 0 waits 42.7 ms for it, 67.2 % of rank 0's time, 23.7 ms of that in ProfilerStep#5 alone. "
        "Meanwhile it spent 18.3 ms of 25.1 ms in planted_delay.");
  CHECK(
      line_of("pp").starts_with("Rank 0 is late: rank 1 waits 12.4 ms for what it sends, 3.1 % of rank 1's time, 1.94 ms to "
                                "3.80 ms in each of the 5 steps."));
}

TEST_CASE("a clock that is 777 us ahead changes its offset and nothing else") {
  for (const char* name : {"ddp_delayed", "fsdp", "tp"}) {
    CAPTURE(std::string(name));
    const std::vector<std::string> files = pair_of(name);
    TempFolder folder;
    const std::string plain = whole_text(files[1]);
    const std::vector<std::string> as_is = {files[0], folder.write("a/rank1.json", plain)};
    const std::vector<std::string> ahead = {
        files[0], folder.write("b/rank1.json", replaced(plain, "\"baseTimeNanoseconds\": 1790857026000000000",
                                                        "\"baseTimeNanoseconds\": 1790857026000777000"))};
    json before = json_of(as_is), after = json_of(ahead);
    CHECK(after["ranks"][1]["offset_ns"] == before["ranks"][1]["offset_ns"].get<std::int64_t>() + 777'000);
    for (json* out : {&before, &after}) {
      (*out)["ranks"][1].erase("offset_ns");
      (*out)["ranks"][1].erase("file");
    }
    CHECK(before == after);
    for (const RunTable table : {RunTable::sync, RunTable::summary, RunTable::straggler, RunTable::alltoall})
      CHECK(answer_of(as_is, table).text == answer_of(ahead, table).text);
  }
}

TEST_CASE("collectives that state their numbers are matched by them, and those that do not say so") {
  const std::vector<std::string> files = pair_of("fsdp");
  const json without = json_of(files);
  TempFolder folder;
  std::vector<std::string> numbered;
  for (const std::string& file : files) {
    std::string text = whole_text(file);
    const std::string next = "\"dtype\"", number = "\"Seq\": 5000000000, ";
    for (std::size_t at = text.find(next); at != text.npos; at = text.find(next, at + number.size() + 1))
      text.insert(at, number);
    numbered.push_back(folder.write("rank" + std::to_string(numbered.size()) + ".json", text));
  }
  const json with = json_of(numbered);
  REQUIRE(with["collectives"].size() == without["collectives"].size());
  for (const json& c : without["collectives"]) CHECK(!c.contains("seq"));
  for (const json& c : with["collectives"]) CHECK(c.value("seq", std::int64_t{0}) == 5'000'000'000);
  CHECK(with["ranks"][0]["total_wait_ns"] == without["ranks"][0]["total_wait_ns"]);
}

TEST_CASE("what equal collectives are is kept once for all ranks, and no more room than is needed") {
  LocalReader reader;
  const RunReport report = analyze_run(pair_of("fsdp"), reader, ClockAlignment::collectives);
  const RankData &a = report.run.ranks[0], &b = report.run.ranks[1];
  REQUIRE(a.whats.size() == b.whats.size());
  for (std::size_t i = 0; i < a.whats.size(); ++i) CHECK(a.whats[i] == b.whats[i]);
  CHECK(a.seqs.empty());
  CHECK(a.file_order.size() == a.collectives.size());  // one begins before one that the file has first
  CHECK(a.exposed_communication.bytes.size() < 6 * a.exposed_communication.unpacked().size());
  CHECK(length(a.exposed_communication.unpacked()) == a.account.exposed_communication);
}

TEST_CASE("files that are no use are reported, and the rest is used") {
  const std::vector<std::string> pair = pair_of("ddp");
  TempFolder folder;
  const std::string text = whole_text(pair[1]);
  const auto problems = [&](std::vector<std::string> paths, std::size_t ranks, int code) {
    const RanksOutput answer = answer_of(std::move(paths));
    CHECK(answer.code == code);
    const json out = json::parse(answer.text);
    CHECK(out["ranks"].size() == ranks);
    std::string all;
    for (const json& sentence : out["problems"]) all += sentence.get<std::string>() + '\n';
    return all;
  };
  CHECK(problems(pair, 2, 0).empty());
  CHECK(problems({pair[0]}, 1, 1).find("Of 2 ranks 1 is missing: 1.") != std::string::npos);
  CHECK(problems({pair[0], pair[1], "/nowhere/rank7.json"}, 2, 1).find("/nowhere/rank7.json") != std::string::npos);
  CHECK(problems({pair[0], folder.write("rank1.json", "nonsense")}, 1, 1).find("not a trace") != std::string::npos);
  CHECK(problems({pair[0], folder.write("cut/rank1.json", text.substr(0, text.size() / 2))}, 2, 1)
            .find("The file of rank 1 is cut off") != std::string::npos);
  CHECK(problems({pair[0], recording("fsdp_rank1").string()}, 1, 1).find("Rank 1 is of another recording") !=
        std::string::npos);
  CHECK(problems({pair[0], pair[1], recording("tp_rank0").string()}, 2, 1).find("another recording") != std::string::npos);
  CHECK(problems({pair[0], folder.write("w/rank1.json", replaced(text, "\"world_size\": 2", "\"world_size\": 9"))}, 1, 1)
            .find("belongs to a run of") != std::string::npos);
  std::string nameless = text;
  for (std::size_t at = nameless.find("\"Collective name\""); at != nameless.npos;
       at = nameless.find("\"Collective name\"", at))
    nameless.replace(at, 17, "\"Collective mane\"");
  CHECK(problems({pair[0], folder.write("n/rank1.json", nameless)}, 2, 0)
            .find("Rank 1: none of its 73 communication kernels names its collective") != std::string::npos);
  CHECK(problems({folder.write("empty/x.txt", "")}, 0, 1).size() > 1);
  const RanksOutput nothing = answer_of({(folder.path() / "empty").string()}, RunTable::sync);
  CHECK(nothing.code == 1);
  CHECK(nothing.text.empty());
  CHECK(nothing.trouble.find("holds no trace") != std::string::npos);
}

TEST_CASE("ranks that were merged into one file are compared as those of their own files are") {
  const TempFolder folder;
  for (const char* pid : {"[TP0{}] ", "rank {}: "}) {
    CAPTURE(std::string(pid));
    json merged;
    for (int rank = 0; rank < 2; ++rank) {
      json own = json::parse(whole_text(pair_of("ddp_delayed")[static_cast<std::size_t>(rank)]));
      for (json& event : own["traceEvents"])
        if (event.contains("pid")) {
          const std::string before = event["pid"].is_string() ? event["pid"].get<std::string>() : event["pid"].dump();
          event["pid"] = replaced(pid, "{}", std::to_string(rank)) + before;
        }
      if (rank == 0)
        merged = std::move(own);
      else
        merged["traceEvents"].insert(merged["traceEvents"].end(), own["traceEvents"].begin(), own["traceEvents"].end());
    }
    const std::string path = folder.write("merged.json", merged.dump());
    const json out = json_of({path}), own = json_of(pair_of("ddp_delayed"));
    CHECK(out["problems"].empty());
    REQUIRE(out["ranks"].size() == 2);
    CHECK(out["collectives"].size() == own["collectives"].size());
    CHECK(out["ranks"][1]["times_last"] == own["ranks"][1]["times_last"]);
    CHECK(out["ranks"][1]["file"] == path + "#rank1");
    CHECK(out["late"] == own["late"]);
    const auto rank1 = load_trace(path + "#rank1"), alone = load_trace(pair_of("ddp_delayed")[1]);
    REQUIRE(rank1.ok());
    CHECK((*rank1)->slice_count() == (*alone)->slice_count());
    CHECK((*rank1)->gpu.size() == (*alone)->gpu.size());
    CHECK((*rank1)->doubts.size() == (*alone)->doubts.size());
    CHECK(load_trace(path + "#rank7").error().message.find("does not hold rank 7") != std::string::npos);
    CHECK(answer_of({path, pair_of("ddp_delayed")[1]}).text.find("holds 2 ranks in one file") != std::string::npos);
  }
}

TEST_CASE("a pipe in a folder is reported and not waited for") {
  TempFolder folder;
  for (const std::string& path : pair_of("ddp"))
    std::filesystem::copy_file(path, folder.path() / std::filesystem::path(path).filename());
  const std::filesystem::path pipe = folder.path() / "ddp_rank2.json";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const RanksOutput answer = answer_of({folder.path().string()});
  CHECK(answer.code == 1);
  CHECK(answer.text.find("ddp_rank2.json is a pipe or a device, not a file. It is left out.") != std::string::npos);
  CHECK(json::parse(answer.text)["ranks"].size() == 2);
}

TEST_CASE("files that vanish after the folder was listed, and after they were read") {
  TempFolder folder;
  std::vector<std::filesystem::path> copies;
  for (const std::string& path : pair_of("ddp")) {
    copies.push_back(folder.path() / std::filesystem::path(path).filename());
    std::filesystem::copy_file(path, copies.back());
  }
  const RankFiles found = find_rank_files({folder.path().string()});
  REQUIRE(found.files.size() == 2);
  // The late rank is 0, whose trace is let go when rank 1 is read, so that it has to be opened again to ask what it did.
  struct Vanishing : LocalReader {
    explicit Vanishing(std::filesystem::path path) : LocalReader({.at_once = 1}), path_(std::move(path)) {}
    std::vector<DoingAnswer> answer(const std::vector<DoingQuestion>& questions) override {
      std::filesystem::remove(path_);
      return LocalReader::answer(questions);
    }
    std::filesystem::path path_;
  } vanishing(copies[0]);
  const RunReport without = analyze_run(found.files, vanishing, ClockAlignment::collectives);
  CHECK(without.run.ranks.size() == 2);
  REQUIRE(without.doing.size() == 5);
  CHECK(without.doing[0].doing.empty());
  CHECK(first_sentence(without).starts_with("Rank 0 is late: rank 1 waits "));
  LocalReader reader;
  const RunReport less = analyze_run(found.files, reader, ClockAlignment::collectives);
  CHECK(less.run.ranks.size() == 1);
  CHECK(!less.run.all_used);
  REQUIRE(!less.run.problems.empty());
  CHECK(less.run.problems[0].find("ddp_rank0.json.gz") != std::string::npos);
}

TEST_CASE("a folder of many recordings is one of them, and the others are reported") {
  LocalReader reader;
  const RanksOutput answer = ranks_answer({.paths = {(recordings_folder() / "ranks").string()}}, reader);
  CHECK(answer.code == 1);
  CHECK(answer.text.find("another recording than") != std::string::npos);
  const RankFiles found = find_rank_files({(recordings_folder() / "ranks").string()});
  const Run run = analyze_run(found.files, reader, ClockAlignment::base).run;
  std::size_t files = run.ranks.size();
  for (const std::vector<std::string>& other : run.others) files += other.size();
  CHECK(run.others.size() >= 3);
  CHECK(files == found.files.size());
}
