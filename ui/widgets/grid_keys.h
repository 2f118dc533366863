#pragma once
// The keyboard of tables: the one whose row was clicked last has the arrows until something else is clicked, or Esc.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ui/keys.h"

namespace gapscope {

// Once a frame, before anything is drawn: takes what the table with the keyboard is meant to get (Up, Down, Page Up and Page
// Down walk its rows, Ctrl+F goes to the filter above it) and gives the other presses.
std::vector<KeyPress> take_grid_keys(std::span<const KeyPress> presses);

// A table is known by the hash of its id: the window that it is in changes when something comes next to it.
// Of a table that is drawn: the row to go to, -1 for none, where `selected` is its chosen row or -1.
std::int64_t walked_row(std::size_t grid, std::int64_t selected, std::size_t rows);
// A row of it was clicked, or walked to: it has the keyboard.
void give_grid_keys(std::size_t grid, std::int64_t row);
bool has_grid_keys(std::size_t grid);
// A row was double-clicked: what its click selected is to be opened. True once.
void open_row();
bool take_opened_row();
// The rows are walked by keys, and the pointer has not moved since: what it happens to lie on explains nothing.
bool pointer_rests();

// The label of a field that filters the table below it.
constexpr const char* kFilterField = "##filter";
// Of such a field: true in the frame in which it is to take the keyboard.
bool take_filter_keys();

}  // namespace gapscope
