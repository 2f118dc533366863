#pragma once
// What every subcommand does first and last: load its trace, print its text.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/table/cell_value.h"
#include "core/load/load_trace.h"

namespace gapscope {

// What the arguments of the command that runs say of its traces. Set once, before anything is loaded.
struct TraceArguments {
  std::string capture;  // the recording in which the graphs of the trace were captured, or a folder of such; empty: not given
  Stated stated;
};
TraceArguments& trace_arguments();
// To load a trace as it is asked for.
LoadOptions load_options();

// With what its graphs were captured by (app/session/captured_trace.h). Null when it does not open; the reason is then a
// sentence on stderr.
std::shared_ptr<const Trace> load_or_say_why(const std::string& path);
std::shared_ptr<const Trace> value_or_say_why(const Result<std::shared_ptr<const Trace>>& loaded);

// The folder for text that is too large for memory, for a while: TMPDIR, else /var/tmp.
std::string spill_folder();

// One sentence on stderr. Returns the code.
int complain(int code, const std::string& sentence);
// To stdout, whole. The exit code: kBadInput when it could not be written (a full disk), which is then said on stderr.
int print(const std::string& text);

// Columns as wide as their widest cell, so many spaces apart, behind two.
std::string aligned_text(const std::vector<std::vector<std::string>>& rows, std::size_t gap,
                         const std::function<bool(std::size_t column)>& at_left);

// Null where it is absent, or empty.
nlohmann::ordered_json or_null(const CellValue& value);
nlohmann::ordered_json text_or_null(std::string_view text);

// What a name from a trace could steer a terminal with (core/base/hidden_character.h) is escaped.
std::string json_text(const nlohmann::ordered_json& json, int indent = 1);

}  // namespace gapscope
