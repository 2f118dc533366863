#pragma once
// What the list of a folder says of its recordings.
#include <vector>

#include <imgui.h>

#include "core/view/view_state.h"
#include "ui/widgets/theme.h"

namespace gapscope {

struct FolderEntry;
struct RunSummary;

// What limits the run, how long a step is, and how busy the GPU is, as a bar: on the last line between these corners.
void draw_summary(const RunSummary& summary, const Theme& theme, float scale, ImVec2 low, ImVec2 high);
// Folders stay first. What is not known comes last.
void put_in_order(std::vector<const FolderEntry*>& entries, StartFields::Order order);
void draw_order(StartFields& fields, const Theme& theme);

}  // namespace gapscope
