/**
 * \file
 * The page that shows a profile, as viewer/ has made it. It holds no data: these go where its mark is.
 */
#include "report/ompp_html_priv.h"

const unsigned char ompp_html_page[] = {
#include "report/ompp_html_bytes.h"
};
const size_t ompp_html_page_size = sizeof ompp_html_page;
