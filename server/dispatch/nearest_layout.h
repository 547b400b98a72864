// The layout of the published row whose scale is nearest, in the options of `submit`: for a scale
// that no row has, where a proxy without a layout is one whole model a GPU.
#pragma once

#include <string>

#include "parser/catalog/catalog.h"
#include "server/dispatch/submission.h"

namespace llmb::dispatch {

// "--set tp=8 --set pp=8 --set cp=2 --set vp=8, as 1024 h100 have"; empty where no row is of this
// whole model and GPU, its ranks do not divide the scale, or it is fully sharded, which no option
// of `submit` asks for.
std::string nearest_layout(const Submission& wanted, const parser::Catalog& catalog);

}  // namespace llmb::dispatch
