# The recorder: libgapscope_sampler.so, loaded into CUDA programs, and what of it can be tested without CUDA.

# What a recording is made of: options, the file's pieces, the events' text. Position-independent for the library.
add_library(gapscope_recording STATIC app/record/recording.cpp app/record/trace_pieces.cpp app/sampler/kineto_text.cpp app/sampler/ranges.cpp
  app/sampler/event_writer.cpp core/analyze/occupancy.cpp)
target_link_libraries(gapscope_recording PUBLIC gapscope_flags ZLIB::ZLIB)
set_target_properties(gapscope_recording PROPERTIES POSITION_INDEPENDENT_CODE ON)

if(GAPSCOPE_CUPTI_FOUND)
  # CUPTI's records as plain values: tests make some up.
  add_library(gapscope_cupti_records STATIC app/sampler/cupti_records.cpp core/base/demangle.cpp)
  target_link_libraries(gapscope_cupti_records PUBLIC gapscope_recording gapscope::cupti gapscope::demangler)
  set_target_properties(gapscope_cupti_records PROPERTIES POSITION_INDEPENDENT_CODE ON)

  add_library(gapscope_sampler MODULE app/sampler/injection.cpp app/sampler/recorder.cpp app/sampler/cupti_library.cpp app/sampler/devices.cpp)
  target_link_libraries(gapscope_sampler PRIVATE gapscope_cupti_records Threads::Threads ${CMAKE_DL_LIBS})
  # A guest in somebody's program shows nothing but its two doors, and brings its own C++ library.
  set_target_properties(gapscope_sampler PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_options(gapscope_sampler PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,-z,defs)
endif()
