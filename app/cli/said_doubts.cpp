#include "app/cli/said_doubts.h"

#include <utility>

#include <fmt/format.h>

#include "core/analyze/doubts.h"
#include "core/base/hidden_character.h"
#include "core/base/text.h"
#include "core/diagnose/trust.h"
#include "core/session/trace_session.h"

namespace gapscope {

nlohmann::ordered_json doubts_json(const std::vector<Doubt>& doubts) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Doubt& d : doubts)
    list.push_back(
        {{"kind", doubt_word(d.kind)}, {"count", d.count}, {"affects", d.affects}, {"said", d.said}, {"mended", d.mended}});
  return list;
}

nlohmann::ordered_json with_doubts(nlohmann::ordered_json object, const std::vector<Doubt>& doubts) {
  if (!doubts.empty()) object["doubts"] = doubts_json(doubts);
  return object;
}

nlohmann::ordered_json with_doubts(nlohmann::ordered_json object, const TraceSession& session) {
  return with_doubts(std::move(object), doubts_of(session.trace(), session.ops()));
}

std::string doubts_line(const std::vector<Doubt>& doubts, std::string_view label) {
  const std::string text = doubts_text(doubts);
  if (text.empty()) return {};
  return fmt::format("{}{}{}\n", printable(label), label.empty() ? "" : ": ", printable(text));
}

std::string doubts_line(const TraceSession& session) { return doubts_line(doubts_of(session.trace(), session.ops())); }

}  // namespace gapscope
