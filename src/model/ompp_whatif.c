#include "model/ompp_whatif.h"

const ompp_whatif_flag_t ompp_whatif_flags[OMPP_WHATIF_FLAG_NUM] = {
#define OMPP_WHATIF_FLAG(id, name, sentence) [OMPP_WHATIF_BIT_##id] = {name, sentence},
#include "model/ompp_whatif_flag.def"
#undef OMPP_WHATIF_FLAG
};

const char *const ompp_whatif_modes[OMPP_WHATIF_MODE_NUM] = {
    [OMPP_WHATIF_OFF] = "off", [OMPP_WHATIF_VIRTUAL] = "virtual", [OMPP_WHATIF_DELAY] = "delay"};
