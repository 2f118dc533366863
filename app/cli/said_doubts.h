#pragma once
// Doubts about a recording, as every command says them: a line of text above its figures, a list in its JSON.
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/trace/doubt.h"

namespace gapscope {

class TraceSession;

// [{"kind", "count", "affects", "said", "mended"}]
nlohmann::ordered_json doubts_json(const std::vector<Doubt>& doubts);
// With "doubts" behind its keys where there are any: of commands whose object has no such key of its own.
nlohmann::ordered_json with_doubts(nlohmann::ordered_json object, const std::vector<Doubt>& doubts);
nlohmann::ordered_json with_doubts(nlohmann::ordered_json object, const TraceSession& session);

// doubts_text() and a newline, behind "A: " where there is a `label`; empty where nothing is to be said.
std::string doubts_line(const std::vector<Doubt>& doubts, std::string_view label = "");
std::string doubts_line(const TraceSession& session);

}  // namespace gapscope
