#include "tests/support/diagnosed.h"

#include <map>

#include "tests/support/real_traces.h"

namespace gapscope::test {
namespace {

const Document& judged(const Document& document) {
  document.diagnose();
  return document;
}

}  // namespace

Diagnosed::Diagnosed(std::shared_ptr<const Trace> trace)
    : document(std::move(trace)),
      analysis(judged(document).analysis()),
      facts(document.session),
      diagnosis(*document.diagnosis()) {}

std::vector<const Finding*> Diagnosed::findings(std::string_view rule) const {
  std::vector<const Finding*> out;
  for (const RankedFinding& f : diagnosis.findings)
    if (f.finding.rule->id == rule) out.push_back(&f.finding);
  return out;
}

const Diagnosed& diagnosed_once(const std::filesystem::path& path) {
  static std::map<std::filesystem::path, Diagnosed> judged;  // tests run one after the other
  const auto at = judged.find(path);
  return at != judged.end() ? at->second : judged.try_emplace(path, load_once(path)).first->second;
}

}  // namespace gapscope::test
