#pragma once
// How a recording was made, as far as its file shows: with what software, as which rank, with which options; and what is
// missing in it, each with what would add it.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/session/trace_session.h"
#include "core/trace/program_kind.h"

namespace gapscope {

struct MissingPart {
  std::string_view key;   // "shapes", as in JSON
  std::string_view what;  // what the overview lacks without it: a sentence
  std::string_view how;   // after "Add": for torch.profiler.profile(...), or a line of its own; or for gapscope record; empty
                          // where the recording was made with it
};

struct RecordingFacts {
  std::vector<std::pair<std::string, std::string>> software;  // "CUDA driver", "13.0"
  std::vector<std::string> options;                           // "record_shapes", ...: those that the file says were on
  ProgramKind program = ProgramKind::python;
  std::string recorder;                     // "torch.profiler", "gapscope record"; empty: not stated
  std::int64_t rank = -1, world_size = -1;  // -1 where the file does not say
  std::vector<MissingPart> missing;
};
RecordingFacts recording_facts(const TraceSession& session);

struct RankOfRun {
  std::int64_t rank = -1, world_size = -1;  // -1 where the file does not say
};
RankOfRun rank_of(const Header& header);

// "13.0" of "13000", as CUDA counts its versions; the text itself where it is no such number.
std::string cuda_version_text(std::string_view json);

}  // namespace gapscope
