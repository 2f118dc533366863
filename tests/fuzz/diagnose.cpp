// Any bytes that load: every analysis and every rule over them ends, and what the rules say is the same the second time.
#include <cstdlib>
#include <string>

#include "core/analyze/analysis.h"
#include "core/diagnose/diagnose.h"
#include "core/index/lane_index.h"
#include "core/index/link_index.h"
#include "core/index/name_index.h"
#include "tests/support/piecewise_load.h"

namespace {

std::string text_of(const gapscope::Diagnosis& diagnosis) {
  std::string text = diagnosis.verdict;
  for (const gapscope::RankedFinding& ranked : diagnosis.findings)
    text.append(ranked.finding.rule->id).append(ranked.finding.summary);
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace gapscope;
  const auto loaded = test::load_in_pieces({reinterpret_cast<const char*>(data), size}, 1, test::kOneBatch);
  if (!loaded.ok()) return 0;
  const Trace& trace = **loaded;
  const LaneIndex lanes(trace);
  const LinkIndex links(trace, lanes);
  const NameIndex names(trace);
  const auto analysis = Analysis::make(trace, lanes, links);
  const Facts facts(trace, lanes, links, names, *analysis);
  if (text_of(diagnose(facts)) != text_of(diagnose(facts))) std::abort();
  return 0;
}
