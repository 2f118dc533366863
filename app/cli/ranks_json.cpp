#include <nlohmann/json.hpp>

#include "app/cli/in_and_out.h"
#include "app/cli/ranks.h"

namespace gapscope {
namespace {

using Json = nlohmann::ordered_json;

class Writer {
 public:
  explicit Writer(const RunReport& report) : r_(report), ranks_(report.run.ranks) {}

  Json json() const {
    Json out = {{"sentence", first_sentence(r_)}, {"ranks", Json::array()},     {"collectives", Json::array()},
                {"late", Json::array()},          {"unmatched", Json::array()}, {"findings", Json::array()},
                {"problems", r_.run.problems}};
    for (const RunFinding& f : r_.findings)
      out["findings"].push_back({{"kind", run_finding_word(f.kind)},
                                 {"text", f.text},
                                 {"cost_ns", f.cost},
                                 {"rank", f.rank >= 0 ? Json(f.rank) : Json(nullptr)},
                                 {"gain", run_gain_json(r_, f)}});
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) out["ranks"].push_back(rank(r));
    for (std::size_t i = 0; i < r_.matches.all.size(); ++i) out["collectives"].push_back(collective(i));
    for (std::size_t i = 0; i < r_.waits.late.size(); ++i) out["late"].push_back(late(i));
    for (std::uint32_t r = 0; r < ranks_.size(); ++r)
      if (r_.matches.unmatched[r] + ranks_[r].unnamed > 0)
        out["unmatched"].push_back({{"rank", ranks_[r].rank},
                                    {"without_partner", r_.matches.unmatched[r]},
                                    {"without_name", ranks_[r].unnamed},
                                    {"without_name_ns", ranks_[r].unnamed_time}});
    return out;
  }

 private:
  Json rank(std::uint32_t r) const {
    const RankData& data = ranks_[r];
    const RankClock& clock = r_.clocks.ranks[r];
    const RankNumbers& n = r_.waits.ranks[r];
    Json out = {{"rank", data.rank},
                {"file", data.file},
                {"offset_ns", clock.offset},
                {"residual_ns", clock.compared ? Json(clock.residual) : Json(nullptr)}};
    if (clock.drift != 0) out["drift_ppb"] = static_cast<std::int64_t>(clock.drift * 1e9);
    out["total_wait_ns"] = n.total_wait;
    out["times_last"] = n.times_last;
    out["times_first"] = n.times_first;
    out["account"] = account(data, n);
    return out;
  }

  // As `why --json` has it, with exposed communication taken apart.
  Json account(const RankData& data, const RankNumbers& n) const {
    if (data.device < 0) return nullptr;
    const AccountTimes& t = data.account;
    Json waiting = Json::object(), idle = Json::object();
    for (const WaitingFor& w : n.waiting) waiting[std::to_string(ranks_[w.rank].rank)] = w.time;
    for (std::size_t c = 0; c < kIdleCauses; ++c)
      if (t.idle[c] > 0) idle[std::string(idle_cause_key(static_cast<IdleCause>(c)))] = t.idle[c];
    return {{"device", data.device},
            {"window_ns", t.window},
            {"compute", t.compute},
            {"exposed_communication", t.exposed_communication},
            {"transfer", n.transfer},
            {"waiting_for", waiting},
            {"unsplit", n.unsplit},
            {"overlapped_communication", n.communication - n.exposed},
            {"exposed_copies", t.exposed_copies},
            {"idle", idle}};
  }

  Json collective(std::size_t i) const {
    const Matched& m = r_.matches.all[i];
    const Member& first = r_.matches.of(m).front();
    const RankCollective& c = ranks_[first.rank].collectives[first.at];
    const CollectiveWhat& w = ranks_[first.rank].what(first.at);
    const CollectiveNumbers& n = r_.waits.collectives[i];
    Json out = {{"group", w.group}, {"group_ranks", w.members},     {"index", r_.matches.index_in_group(i)}, {"name", w.name},
                {"dtype", w.dtype}, {"in_elements", w.in_elements}, {"out_elements", w.out_elements}};
    if (const std::int64_t seq = ranks_[first.rank].seq(first.at); seq >= 0) out["seq"] = seq;
    if (c.step != kNoStep) out["step"] = ranks_[first.rank].steps[c.step].name;
    out["begin_ns"] = n.begin - r_.waits.start;
    out["latency_ns"] = n.latency;
    out["start_skew_ns"] = n.start_skew();
    out["end_skew_ns"] = n.end_skew;
    out["last_rank"] = ranks_[n.last].rank;
    out["first_rank"] = ranks_[n.first].rank;
    if (const double rate = algorithm_bandwidth(n, w); rate > 0) out["algorithm_gb_per_s"] = rate;
    if (const double rate = bus_bandwidth(n, w); rate > 0) out["bus_gb_per_s"] = rate;
    return out;
  }

  Json late(std::size_t i) const {
    const LateRank& l = r_.waits.late[i];
    Json doing = Json::array();
    for (const Doing& d : r_.doing[i].doing) doing.push_back({{"name", d.name}, {"ns", d.time}});
    return {{"rank", ranks_[l.rank].rank},
            {"step", l.step.empty() ? Json(nullptr) : Json(l.step)},
            {"lost_ns", l.lost},
            {"doing", doing}};
  }

  const RunReport& r_;
  const std::vector<RankData>& ranks_;
};

}  // namespace

Json run_gain_json(const RunReport& report, const RunFinding& f) {
  if (!f.gain) return nullptr;
  const RunReplay& g = *f.gain;
  Json out = {
      {"change", gain_change(f)}, {"before_ns", g.before}, {"after_ns", g.after}, {"gain_ns", g.gain()}, {"late", nullptr}};
  if (g.is_late()) out["late"] = report.run.ranks[g.late].rank;
  return out;
}

std::string ranks_json(const RunReport& report) { return json_text(Writer(report).json()); }

}  // namespace gapscope
