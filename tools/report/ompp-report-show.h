/**
 * \file
 * The commands of ompp-report that read a file and print, check or convert it. \return exit status.
 */
#ifndef OMPP_TOOLS_REPORT_SHOW_H
#define OMPP_TOOLS_REPORT_SHOW_H

#include "tools/report/ompp-report.h"

int ompp_report_show(const request_t *request);
int ompp_report_show_summary(const request_t *request);
int ompp_report_show_csv(const request_t *request);
int ompp_report_show_coz(const request_t *request);
int ompp_report_show_page(const request_t *request);
int ompp_report_check(const request_t *request, char **files, int n);
int ompp_report_convert(const request_t *request);

/** The XML, and a source file; without it, which files there are. */
int ompp_report_show_source(const request_t *request, char **files, int n);

#endif
