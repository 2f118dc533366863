#pragma once
// The recordings that come with Gapscope: one table. Shown on the start screen; also what a first look opens.
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "ui/app_ui.h"

namespace gapscope {

// In order of learning. The name is also that of the file, assets/traces/NAME.json.gz.
std::span<const Sample> samples();

// The folder assets/ alongside the program, above its build folder, or where it was built from; empty when there is none.
std::filesystem::path find_assets(const std::filesystem::path& executable);
std::filesystem::path sample_path(const std::filesystem::path& assets, const Sample& sample);

}  // namespace gapscope
