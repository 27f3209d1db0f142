#include "base/ompp_error.h"

static const char *const messages[OMPP_E_NUM] = {
    [OMPP_OK] = "no error",
#define OMPP_ERROR(name, message) [OMPP_E_##name] = message,
#include "base/ompp_error.def"
#undef OMPP_ERROR
};

const char *ompp_error_message(int code)
{
    if (code < 0) code = -code;
    return code >= 0 && code < OMPP_E_NUM ? messages[code] : "unknown error";
}
