#pragma once
// The thin bars around the timeline: menus and the file's name above, figures below, messages between.
#include "ui/app_ui.h"
#include "ui/commands.h"
#include "ui/timeline/painter.h"

namespace gapscope {

constexpr float kTopBarHeight = 40;
constexpr float kStatusHeight = 24;

// Menus from the command table, then the file and its GPU.
void draw_top_bar(const Box& box, const FrameInput& in, CommandScope& scope);
// What is open and visible; while only a part of the file is there, how far its load is, and a way to end it. What was saved,
// and the notice, stand in its place for as long as they are there.
void draw_status_bar(const Box& box, const FrameInput& in, const TraceView& view, WindowState& window, Requests& out);

// The error sentence across the window, until it is dismissed. Returns how many px it took.
float draw_message(const Box& box, const FrameInput& in, const WindowState& window, Requests& out);

// At the lower end of `box`: how far the load of the second trace is, and a way to end it. Returns how many px it took.
float draw_loading_second(const Box& box, const LoadingView& loading, const WindowState& window, Requests& out);

// A handle between two areas; gives the px (at scale 1) it was dragged in this frame.
float draw_splitter(const char* id, const Box& box, const WindowState& window);

}  // namespace gapscope
