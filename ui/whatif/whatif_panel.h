#pragma once
// What a change would give, in the window: the tab "What if", its entries in menus, and what asks for replays.
#include <cstdint>
#include <string>
#include <vector>

#include "core/view/view_state.h"
#include "core/view/whatif/whatif_model.h"
#include "ui/requests.h"

namespace gapscope {

struct Document;

// Each frame, of each open document: asks for what the timeline shows of replays, and where the tab is in front for what that
// does.
void ask_for_replays(const Document& document, const TraceView& view, bool tab_in_front, Requests& out);

// Entries of a menu that is open: each opens the tab with its change set.
void draw_what_if_items(const std::vector<ItemChoice>& choices, TraceView& view, WindowState& window);
// The same for the gap of a GPU.
std::vector<ItemChoice> choices_for_gap(const Document& document, LaneId lane, Span gap);
// Whether a finding's remedy can be replayed, and what is said of doing so.
bool can_try(const RankedFinding& finding);
constexpr const char* kTryFinding = "What if this was fixed?";
constexpr const char* kTryFindingHelp = "Replay the recording with what the remedy changes, in the tab What if.";
// Opens the tab with the finding's change set.
void try_finding(TraceView& view, WindowState& window, std::int32_t finding);

// Of the changes the finding that was added last; -1: none.
std::int32_t last_tried(const WhatIfChanges& changes);

Rgb held_colour(HeldBy by, const WindowState& window);
// "the host: aten::copy_", "GPU work: gemm"
std::string path_sum_words(const Trace& trace, const PathSum& sum);

}  // namespace gapscope
