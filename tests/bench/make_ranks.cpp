// make_ranks RANK0 RANK1 OUT --ranks N: many ranks from a recorded pair, with what was planted in them in OUT/truth.
//
// Even ranks are copies of the first recording, odd ones of the second: whole in themselves, each with a clock of its own and a
// few microseconds of noise. Every fourth collective is one of two neighbours (a link), the others are of all. Planted: one
// rank that sleeps before the first collective of a step, for which all others then wait, their hosts in a call, and one link
// that takes four times as long.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "core/base/time.h"
#include "core/load/byte_source.h"

namespace {

using namespace gapscope;
using Json = nlohmann::ordered_json;

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

std::string read_all(const std::string& path) {
  auto source = open_source(path);
  if (!source) stop(source.error().message);
  std::string text;
  for (std::size_t got = 1; got > 0;) {
    const std::size_t had = text.size();
    text.resize(had + (1 << 22));
    got = *(*source)->read(text.data() + had, 1 << 22);
    text.resize(had + got);
  }
  return text;
}

// "12.345" and "12" microseconds.
Ns ns_of(std::string_view us) {
  const std::size_t dot = us.find('.');
  Ns whole = std::atoll(std::string(us.substr(0, dot)).c_str()) * 1000;
  if (dot == us.npos) return whole;
  std::string digits(us.substr(dot + 1, 3));
  digits.resize(3, '0');
  return whole + std::atoll(digits.c_str());
}
std::string us_of(Ns ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

// An event's text between numbers that change from copy to copy.
struct Piece {
  enum class What { begin, duration, id, step } what;
  std::string before;
  Ns value = 0;
};
struct Event {
  std::vector<Piece> pieces;
  std::string rest;
  Ns begin = 0, duration = 0;
  bool timed = false, on_gpu = false;
  int collective = -1;  // its number among the recording's
  std::int64_t correlation = -1;
  bool is_call = false;
  std::string thread;  // "pid": 1, "tid": 1
};

struct Recording {
  std::string head, tail;  // around the events
  std::vector<Event> events;
  std::vector<std::size_t> collectives;  // events, in order of begin
  Ns begin = 0, end = 0;

  const Event& collective(std::size_t i) const { return events[collectives[i]]; }
};

std::string_view number_after(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() &&
         (std::isdigit(static_cast<unsigned char>(text[end])) != 0 || text[end] == '.' || text[end] == '-'))
    ++end;
  return text.substr(at, end - at);
}

Event split(std::string_view text) {
  static constexpr std::pair<std::string_view, Piece::What> kKeys[] = {
      {"\"ts\": ", Piece::What::begin},       {"\"dur\": ", Piece::What::duration}, {"\"correlation\": ", Piece::What::id},
      {"\"External id\": ", Piece::What::id}, {"\"id\": ", Piece::What::id},        {"ProfilerStep#", Piece::What::step}};
  Event e;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    bool found = false;
    for (const auto& [key, what] : kKeys) {
      if (!text.substr(at).starts_with(key)) continue;
      const std::string_view number = number_after(text, at + key.size());
      if (number.empty()) continue;
      const Ns value =
          what == Piece::What::begin || what == Piece::What::duration ? ns_of(number) : std::atoll(std::string(number).c_str());
      e.pieces.push_back({what, std::string(text.substr(done, at + key.size() - done)), value});
      if (what == Piece::What::begin) e.begin = value, e.timed = true;
      if (what == Piece::What::duration) e.duration = value;
      if (key == "\"correlation\": ") e.correlation = value;
      done = at = at + key.size() + number.size();
      found = true;
      break;
    }
    if (!found) ++at;
  }
  e.rest = text.substr(done);
  const auto has = [&](std::string_view part) { return text.find(part) != text.npos; };
  e.on_gpu = has("\"cat\": \"kernel\"") || has("\"cat\": \"gpu_mem");
  e.is_call = has("\"cat\": \"cuda_runtime\"") || has("\"cat\": \"cuda_driver\"");
  const std::size_t pid = text.find("\"pid\": "), tid = text.find("\"tid\": ");
  if (pid != text.npos && tid != text.npos)
    e.thread = fmt::format("\"pid\": {}, \"tid\": {}", number_after(text, pid + 7), number_after(text, tid + 7));
  return e;
}

Recording read_recording(const std::string& path) {
  const std::string text = read_all(path);
  Recording r;
  std::size_t at = text.find("\"traceEvents\":");
  at = at == text.npos ? at : text.find('[', at);
  if (at == text.npos) stop(path + " holds no traceEvents.");
  r.head = text.substr(0, at + 1);
  while (at < text.size() && text[at] != ']') {
    const std::size_t begin = text.find_first_of("{]", at);
    if (begin == text.npos || text[begin] == ']') break;
    std::size_t end = begin;
    int depth = 0;
    bool quoted = false;
    do {
      const char c = text[end];
      if (c == '\\')
        ++end;
      else if (c == '"')
        quoted = !quoted;
      else if (!quoted && c == '{')
        ++depth;
      else if (!quoted && c == '}')
        --depth;
      ++end;
    } while (depth > 0 && end < text.size());
    const std::string_view event = std::string_view(text).substr(begin, end - begin);
    r.events.push_back(split(event));
    Event& e = r.events.back();
    if (e.on_gpu && event.find("\"Collective name\"") != event.npos)
      e.collective = 0, r.collectives.push_back(r.events.size() - 1);
    at = text.find_first_of(",]", end);
  }
  r.tail = text.substr(at);
  std::sort(r.collectives.begin(), r.collectives.end(),
            [&](std::size_t a, std::size_t b) { return r.events[a].begin < r.events[b].begin; });
  for (std::size_t i = 0; i < r.collectives.size(); ++i) r.events[r.collectives[i]].collective = static_cast<int>(i);
  bool any = false;
  for (const Event& e : r.events) {
    if (!e.timed || e.begin == 0) continue;
    r.begin = any ? std::min(r.begin, e.begin) : e.begin;
    r.end = std::max(r.end, e.begin + e.duration);
    any = true;
  }
  return r;
}

struct Plan {
  std::int64_t ranks = 8;
  std::int64_t copies = 1;  // of the recording, one after the other
  bool plant = true;
  std::int64_t straggler = -1, slow_link = -1;  // a rank; a pair of ranks
  std::size_t late_collective = 0;              // counted over all copies
  Ns delay = 20 * kNsPerMs;
  std::string step;
};
constexpr Ns kSlower = 150 * kNsPerUs;  // what the slow link's collectives take more
bool is_of_link(std::size_t collective) { return collective % 4 == 3; }

std::string list_text(std::int64_t first, std::int64_t count) {
  constexpr std::int64_t kTold = 30;  // PyTorch cuts longer lists
  std::string out = "[";
  for (std::int64_t i = 0; i < std::min(count, kTold); ++i) out += fmt::format("{}{}", i == 0 ? "" : ", ", first + i);
  return out + (count > kTold ? ", ...]" : "]");
}

void replace(std::string& text, std::string_view from, const std::string& to) {
  const std::size_t at = text.find(from);
  if (at != text.npos) text.replace(at, from.size(), to);
}

class Maker {
 public:
  Maker(const Recording& even, const Recording& odd, const Plan& plan, std::string folder)
      : even_(even), odd_(odd), plan_(plan), folder_(std::move(folder)), random_(11) {
    period_ = std::max(even.end, odd.end) - std::min(even.begin, odd.begin) + kNsPerMs;
    period_ -= period_ % 1000;
    count_ = std::min(even.collectives.size(), odd.collectives.size());
    steps_ = 0;
    for (const Event& e : even.events)
      for (const Piece& p : e.pieces)
        if (p.what == Piece::What::step)
          steps_ = std::max(steps_, p.value), first_step_ = first_step_ == 0 ? p.value : std::min(first_step_, p.value);
    for (const Recording* r : {&even, &odd})
      for (const Event& e : r->events)
        for (const Piece& p : e.pieces)
          if (p.what == Piece::What::id) ids_ = std::max(ids_, p.value + 1);
  }

  Json make() {
    Json offsets = Json::array();
    for (std::int64_t rank = 0; rank < plan_.ranks; ++rank) {
      const Ns offset = rank == 0 ? 0 : static_cast<Ns>(random_() % 10'000'000) - 5'000'000;
      offsets.push_back(offset);
      write(rank, offset);
    }
    Json truth = {{"ranks", plan_.ranks}, {"offsets_ns", offsets}, {"straggler", nullptr}, {"slow_link", nullptr}};
    if (plan_.plant)
      truth["straggler"] = {{"rank", plan_.straggler}, {"delay_ns", plan_.delay}, {"lost_ns", plan_.delay * (plan_.ranks - 1)}};
    if (plan_.plant) truth["slow_link"] = {2 * plan_.slow_link, 2 * plan_.slow_link + 1};
    return truth;
  }

 private:
  // Everything from `cut_` on comes later by the delay.
  Ns moved(Ns t) const { return plan_.plant && t >= cut_ ? t + plan_.delay : t; }

  void write(std::int64_t rank, Ns offset) {
    const Recording& r = rank % 2 == 0 ? even_ : odd_;
    std::ofstream out(fmt::format("{}/rank{}.json", folder_, rank), std::ios::binary);
    std::string head = r.head;
    const std::size_t base = head.find("\"baseTimeNanoseconds\": ");
    if (base != head.npos) {
      const std::string number(number_after(head, base + 23));
      head.replace(base + 23, number.size(), std::to_string(std::atoll(number.c_str()) + offset));
    }
    replace(head, fmt::format("\"rank\": {}", rank % 2), fmt::format("\"rank\": {}", rank));
    replace(head, "\"world_size\": 2", fmt::format("\"world_size\": {}", plan_.ranks));
    out << head;
    const std::size_t late = plan_.late_collective % count_;
    const Ns late_shift = static_cast<Ns>(plan_.late_collective / count_) * period_;
    cut_ = late_shift +
           (rank == plan_.straggler ? launch_of(r, late).begin : r.collective(late).begin + r.collective(late).duration);
    std::string text;
    bool any = false;
    for (std::int64_t copy = 0; copy < plan_.copies; ++copy) {
      for (const Event& e : r.events) {
        if (copy > 0 && !e.timed) continue;
        text += any ? ",\n  " : "\n  ";
        any = true;
        put(e, rank, copy, text);
      }
      out << text;
      text.clear();
    }
    if (plan_.plant && rank == plan_.straggler)
      out << fmt::format(
          ",\n  {{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"planted_straggler\", {}, \"ts\": {}, \"dur\": {}, "
          "\"args\": {{}}}}",
          launch_of(r, late).thread, us_of(cut_), us_of(plan_.delay));
    else if (plan_.plant)
      out << fmt::format(
          ",\n  {{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaDeviceSynchronize\", {}, \"ts\": {}, \"dur\": {}, "
          "\"args\": {{}}}}",
          launch_of(r, late).thread, us_of(cut_), us_of(plan_.delay));
    out << r.tail;
    if (!out.flush()) stop("The ranks cannot be written: is the disk full?");
  }

  static const Event& launch_of(const Recording& r, std::size_t collective) {
    for (const Event& e : r.events)
      if (e.is_call && e.correlation == r.collective(collective).correlation) return e;
    return r.collective(collective);
  }

  void put(const Event& e, std::int64_t rank, std::int64_t copy, std::string& out) {
    Ns begin = e.begin + copy * period_, end = begin + e.duration;
    if (e.timed) {
      const std::size_t number = static_cast<std::size_t>(copy) * count_ + static_cast<std::size_t>(std::max(0, e.collective));
      const bool is_late = e.collective >= 0 && number == plan_.late_collective;
      const Ns length = end - begin;
      begin = moved(begin);
      end = e.on_gpu && !is_late ? begin + length : moved(end);
      if (e.collective >= 0 && !is_late) adjust(number, rank, begin, end);  // the others' hosts wait for its very end
    }
    for (const Piece& p : e.pieces) {
      out += p.before;
      switch (p.what) {
        case Piece::What::begin: out += us_of(begin); break;
        case Piece::What::duration: out += us_of(end - begin); break;
        case Piece::What::id: out += std::to_string(p.value + copy * ids_); break;
        case Piece::What::step: out += std::to_string(p.value + copy * (steps_ - first_step_ + 1)); break;
      }
    }
    if (e.collective < 0) {
      out += e.rest;
      return;
    }
    const bool of_link = is_of_link(static_cast<std::size_t>(e.collective));
    std::string rest = e.rest;
    replace(rest, "\"Group size\": 2", fmt::format("\"Group size\": {}", of_link ? 2 : plan_.ranks));
    replace(
        rest, "\"Process Group Ranks\": \"[0, 1]\"",
        fmt::format("\"Process Group Ranks\": \"{}\"", of_link ? list_text(rank - rank % 2, 2) : list_text(0, plan_.ranks)));
    if (of_link) replace(rest, "\"Process Group Name\": \"0\"", fmt::format("\"Process Group Name\": \"{}\"", 1 + rank / 2));
    out += rest;
  }

  // Noise; the slow link ends later, and what follows it on its two ranks waits that much less.
  void adjust(std::size_t number, std::int64_t rank, Ns& begin, Ns& end) {
    const bool slow = plan_.plant && rank / 2 == plan_.slow_link;
    if (slow && is_of_link(number % count_)) end += kSlower;
    if (slow && number % count_ > 0 && is_of_link(number % count_ - 1)) begin = std::min(begin + kSlower, end - 5 * kNsPerUs);
    begin -= std::min<Ns>(static_cast<Ns>(random_() % 2000), 2000);
    end += static_cast<Ns>(random_() % 1500);
  }

  const Recording &even_, &odd_;
  const Plan plan_;
  const std::string folder_;
  std::mt19937_64 random_;
  Ns period_ = 0, cut_ = 0;
  std::size_t count_ = 0;
  Ns steps_ = 0, first_step_ = 0, ids_ = 1;
};

// The first collective of the middle step: that after the longest pause.
std::size_t first_of_a_step(const Recording& r) {
  std::size_t best = r.collectives.size() / 2;
  Ns longest = 0;
  for (std::size_t i = r.collectives.size() / 3; i + r.collectives.size() / 3 < r.collectives.size(); ++i) {
    const Ns pause = i == 0 ? 0 : r.collective(i).begin - (r.collective(i - 1).begin + r.collective(i - 1).duration);
    if (pause > longest && !is_of_link(i)) longest = pause, best = i;
  }
  return best;
}

int make(const std::string& a, const std::string& b, const std::string& folder, Plan plan) {
  const Recording even = read_recording(a), odd = read_recording(b);
  if (even.collectives.size() < 8 || odd.collectives.size() < 8) stop("The pair has too few collectives to plant anything in.");
  std::filesystem::create_directories(folder);
  plan.straggler = plan.ranks / 2 + 1;
  plan.slow_link = plan.ranks / 8;
  plan.late_collective = first_of_a_step(even);
  const Json truth = Maker(even, odd, plan, folder).make();
  std::ofstream(folder + "/truth") << truth.dump(1) << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Many ranks made from a recorded pair");
  std::string a, b, folder;
  Plan plan;
  app.add_option("RANK0", a)->required();
  app.add_option("RANK1", b)->required();
  app.add_option("OUT", folder)->required();
  app.add_option("--ranks", plan.ranks)->check(CLI::Range(4, 100'000));
  app.add_option("--copies", plan.copies, "the recording so many times, one after the other")->check(CLI::Range(1, 10'000));
  app.add_flag("!--unplanted", plan.plant, "no straggler and no slow link");
  CLI11_PARSE(app, argc, argv);
  return make(a, b, folder, plan);
}
