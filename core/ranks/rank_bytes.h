#pragma once
// RankData and what is asked about late ranks as bytes, for sending them to another process of the same program.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ranks/run_report.h"

namespace gapscope {

std::string to_bytes(const std::vector<ReadFile>& files);
std::string to_bytes(const std::vector<DoingQuestion>& questions);
std::string to_bytes(const std::vector<DoingAnswer>& answers);

// None where the bytes are not whole.
std::optional<std::vector<ReadFile>> files_from(std::string_view bytes);
std::optional<std::vector<DoingQuestion>> questions_from(std::string_view bytes);
std::optional<std::vector<DoingAnswer>> answers_from(std::string_view bytes);

}  // namespace gapscope
