#pragma once
// A browser's OpenGL is linked: nothing is loaded.
#include <GLES3/gl3.h>
