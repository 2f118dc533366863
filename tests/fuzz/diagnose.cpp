// Any bytes that load: every analysis and every rule over them ends; what the rules say is the same from one thread and from
// many, is in the trace, and costs no more than the time account has (tests/support/diagnosis_truths.h).
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <sched.h>

#include "core/base/parallel.h"
#include "core/diagnose/diagnose.h"
#include "core/index/name_index.h"
#include "core/session/trace_session.h"
#include "tests/support/diagnosis_truths.h"
#include "tests/support/piecewise_load.h"

namespace {

using namespace gapscope;

// hardware_threads() counts the processors that this thread may run on.
class OneProcessor {
 public:
  OneProcessor() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
    if (sched_getaffinity(0, sizeof before_, &before_) != 0 || sched_setaffinity(0, sizeof one, &one) != 0 ||
        hardware_threads() != 1)
      std::abort();
  }
  ~OneProcessor() { sched_setaffinity(0, sizeof before_, &before_); }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

 private:
  cpu_set_t before_;
};

std::string text_of(const Diagnosis& diagnosis) {
  std::string text = fmt::format("{}\n{}\n", diagnosis.trust, diagnosis.verdict);
  for (const RankedFinding& f : diagnosis.findings) {
    text += fmt::format("{} {} {} {} {} {} {} {}\n{}\n{}\n{}\n", f.finding.rule->id, static_cast<int>(f.finding.severity),
                        f.finding.cost, f.finding.stake, f.led_by, f.merged, f.overlap, f.brief, f.finding.summary,
                        f.finding.meaning, f.finding.remedy);
    if (f.gain) text += fmt::format("gain {} {} {}\n", f.gain->time, f.gain->later, f.gain->left);
    for (const FindingSpan& place : f.finding.spans)
      text += fmt::format("{} {} {} {}\n", place.lane.value, place.span.begin, place.span.end, place.slice.value);
  }
  for (const Unjudged& u : diagnosis.unjudged) text += fmt::format("{}: {}\n", u.rule->id, u.why);
  for (const Plan::Item& item : diagnosis.plan.items)
    text += fmt::format("plan {} {} {} {}\n", item.finding, item.after, item.waits_inside, item.remedy);
  return text;
}

void ask_for_none(const std::string& complaint) {
  if (complaint.empty()) return;
  std::fprintf(stderr, "%s\n", complaint.c_str());
  std::abort();
}

// What is said of the trace in these bytes; empty where they do not load.
std::string diagnosed(std::string_view bytes, int threads, std::size_t batch_bytes) {
  const auto loaded = test::load_in_pieces(bytes, threads, batch_bytes);
  if (!loaded.ok()) return {};
  const Trace& trace = **loaded;
  const TraceSession session(*loaded);
  const Facts facts(session);
  const Diagnosis diagnosis = diagnose(facts);
  ask_for_none(test::place_complaint(trace, facts.window, diagnosis));
  ask_for_none(test::cost_complaint(session.account().busiest(), diagnosis));
  ask_for_none(test::plan_complaint(diagnosis));
  return text_of(diagnosis);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string together = diagnosed(bytes, 3, 64);
  const OneProcessor one;
  if (diagnosed(bytes, 1, test::kOneBatch) != together) std::abort();
  return 0;
}
