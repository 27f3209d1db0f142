#include "runtime/ompp_lifecycle.h"
