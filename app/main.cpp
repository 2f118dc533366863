#include "app/cli/command_line.h"

int main(int argc, char** argv) { return gapscope::run_command_line({argv + 1, argv + argc}); }
