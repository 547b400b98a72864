// What text of users may be, and how it is shown and quoted. A value that passes is_printable()
// holds no byte that ends a line, a word of argv or a message.
#pragma once

#include <string>
#include <string_view>

namespace llmb::dispatch {

// ASCII from space to '~', not empty at either end with a space. Empty text passes.
bool is_printable(std::string_view text);
// Letters, digits, '.', '_', '-', '+'; begins with a letter or digit; at most 128.
bool is_name(std::string_view text);
// A name that a shell can export: letters, digits and '_', no digit first; at most 128.
bool is_variable_name(std::string_view text);
// An absolute path that Slurm and a script can take: printable, no '%' (sbatch replaces it), no
// '\\', and no part "..".
bool is_plain_path(std::string_view text);

// For containers, whose images and mounts the recipes' launch.sh hands on without quotes. A plain
// path of letters, digits and any of "/._+@=-".
bool is_mountable_path(std::string_view text);
// "nvcr.io#nvidia/nemo:25.04", or the absolute path of a squashfs file.
bool is_container_image(std::string_view text);
// "/from:/to", "/from:/to:ro+rprivate", or "/both".
bool is_container_mount(std::string_view text);

// For messages: in quotes, with escapes for what is not printable, cut after 60 characters.
std::string in_quotes(std::string_view text);
// For bash: in single quotes, whatever it holds but NUL.
std::string shell_quoted(std::string_view text);

std::string_view trimmed(std::string_view text);

// "all", or numbers and ranges of them: "0-8", "0,4,8-11".
bool is_rank_list(std::string_view text);

}  // namespace llmb::dispatch
