#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/analyze/practices/practices.h"
#include "core/base/phrase.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "core/diagnose/conditions/conditions.h"
#include "core/diagnose/conditions/loops.h"
#include "core/diagnose/conditions/recorded_calls.h"
#include "core/diagnose/rule.h"

namespace gapscope {
namespace {

constexpr std::size_t kLeastItems = 8;

// "train.py(12): step": a frame of a file, not a built-in.
bool has_line(std::string_view frame) { return frame.find(".py(") != frame.npos; }

// The innermost frame around it that is the program's: not PyTorch's own.
SliceId frame_of(const Facts& facts, SliceId s) {
  SliceId own;
  for (SliceId at = facts.ancestor(s, kIsPython); at; at = facts.ancestor(at, kIsPython)) {
    const std::string_view name = facts.trace.name(at);
    if (!has_line(name)) continue;
    if (!own) own = at;
    if (!name.starts_with("torch/")) return at;
  }
  return own;
}

struct Items {
  std::vector<SliceId> calls;
  Ns time = 0;
};

// Reads that follow each other with no launch in between could be one: what all but the first of them take, with the operators
// that choose their values. So could rounds that compute a value each and read it: all but the first round. Of places by thread
// and time.
struct Rows {
  std::vector<Span> spans, rounds;
  std::size_t reads = 0, computed = 0;  // in rows, in rounds
};
void add_rounds(const Facts& facts, const Operators& ops, const std::vector<SliceId>& reads, Rows& out) {
  for (const Loop& loop : loops_of(facts, ops).even) {
    std::size_t read = 0, launching = 0;
    for (std::size_t i = loop.begins[0]; i < loop.begins[1]; ++i) {
      const bool reads_here = std::binary_search(reads.begin(), reads.end(), ops[i]);
      read += reads_here ? 1 : 0;
      launching += !reads_here && (facts.below(ops[i]) & kIsLaunch) != 0 ? 1 : 0;
    }
    if (read == 0 || launching == 0) continue;
    out.computed += read * loop.rounds();
    out.rounds.push_back({facts.trace.begin(ops[loop.begins[1]]), facts.trace.end(ops[loop.end - 1])});
  }
}
// Rounds only where `has_frame`: without frames they may be layers.
Rows rows_of(const Facts& facts, const std::vector<SliceId>& calls, bool has_frame) {
  Rows out;
  std::vector<SliceId> reads;
  for (const SliceId s : calls) {
    const SliceId outer = facts.outermost(s, kIsOp);
    reads.push_back(outer ? outer : s);
  }
  std::sort(reads.begin(), reads.end());
  reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
  for (const Operators& ops : operators_by_thread_and_step(facts)) {
    if (has_frame) add_rounds(facts, ops, reads, out);
    bool follows = false;  // a read, without a launch since
    std::vector<Span> since;
    for (const SliceId s : ops) {
      const Span span = facts.trace.span_of(s);
      if (!std::binary_search(reads.begin(), reads.end(), s)) {
        follows &= (facts.below(s) & kIsLaunch) == 0;
        since.push_back(span);
        continue;
      }
      if (follows) {
        out.reads += 1;
        out.spans.insert(out.spans.end(), since.begin(), since.end());
        out.spans.push_back(span);
      }
      follows = true;
      since.clear();
    }
  }
  return out;
}

std::vector<Finding> check_item_in_loop(const Facts& facts) {
  std::map<std::uint32_t, Items> by_frame;  // by name
  std::vector<SliceId> without_frame;
  const bool has_frames = facts.practices().follows(Practice::python_frames);
  for (const SliceId s : cpu_slices_called(facts, "aten::_local_scalar_dense", kIsOp)) {
    if ((facts.below(s) & (kIsLaunch | kIsSync)) == 0 || (facts.above(s) & kIsCompileFrame) != 0) continue;
    const SliceId frame = frame_of(facts, s);
    if (!frame) {
      // The autograd engine's own are those of its search for NaNs (anomaly_detection).
      const SliceId outer = facts.outermost(s, kIsOp);
      if (!has_frames && !(outer && facts.trace.name(outer).starts_with("autograd::engine::"))) without_frame.push_back(s);
      continue;
    }
    Items& items = by_frame[facts.trace.name_id(frame).value];
    items.calls.push_back(s);
    add_saturating(items.time, facts.trace.duration(s));
  }
  const auto most = std::max_element(by_frame.begin(), by_frame.end(),
                                     [](const auto& a, const auto& b) { return a.second.time < b.second.time; });
  const bool has_frame = most != by_frame.end();
  // Without frames a loop differs from values that are read here and there in that they follow each other.
  const std::vector<SliceId>& calls = has_frame ? most->second.calls : without_frame;
  if (calls.size() < kLeastItems) return {};
  Rows rows = rows_of(facts, calls, has_frame);
  if (!has_frame && (rows.reads < kLeastItems || rows.reads < calls.size() / 2)) return {};
  Ns time = 0;
  for (const SliceId s : calls) add_saturating(time, facts.trace.duration(s));
  Finding finding;
  finding.severity = Severity::notable;
  finding.summary = fmt::format("{} read {} from the GPU one at a time: {} on the host.",
                                has_frame ? shown_name(facts.trace.strings[StringId(std::size_t{most->first})]) : "The program",
                                counted(calls.size(), "value"), format_duration(time));
  finding.evidence = Evidence({{"n", calls.size()}, {"total_us", as_us(time)}, {"in_a_row", rows.reads}});
  if (has_frame) finding.evidence.add("frame", facts.trace.strings[StringId(std::size_t{most->first})]);
  const bool computes = rows.computed > calls.size() / 2;
  if (computes) {
    finding.summary += " The same operators compute each of them.";
    finding.advice = advice_of(
        "Compute the values of all iterations in one call, on the whole tensor with a dim, and read them together: one "
        ".tolist(). If the values must be computed one by one, leave them on the GPU until after the loop.");
    finding.code = "values = function(x).tolist()  # of all iterations, read once";
    finding.gives = Gives{Cure::gone, false};  // one call computes all of them, in a time that no record states
  }
  finding.spared = span_set(std::move(computes ? rows.rounds : rows.spans));
  finding.cost = std::max(time, length(finding.spared));
  mark_slices(finding, facts.trace, calls);
  return {std::move(finding)};
}

}  // namespace

extern const Rule item_in_loop = {
    .id = "item_in_loop",
    .rule_class = RuleClass::problem,
    .severity = Severity::notable,
    .needs = kNeedsOperators,
    .title = "Values are read from the GPU one at a time",
    .meaning =
        "Each .item(), float(), int() or if on a tensor waits until the GPU has computed it. The host launches nothing "
        "meanwhile.",
    .remedy =
        "Leave the values on the GPU, and read them together after the loop: one .tolist() of a tensor, or torch.stack of many "
        "and then .tolist().",
    .check = check_item_in_loop,
    .claim = Claim{.time = ClaimedTime::idle,
                   .causes = kHostCauses | cause_set({IdleCause::synchronizing, IdleCause::starting}),
                   .turn = 75,
                   .explains = {"implicit_sync", "long_sync_wait"}},
    .code = "values = x.tolist()  # all at once; many tensors: torch.stack(them).tolist()",
    .gives = {Cure::waits, true},
};

}  // namespace gapscope
