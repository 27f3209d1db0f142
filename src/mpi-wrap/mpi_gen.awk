# Makes the wrappers of every MPI function that the installed mpi.h declares: those of C, and, with mpi_gen_f.awk, of Fortran.
#
#   awk -f mpi_gen.awk -f mpi_gen_f.awk mpi_calls.def mpi_rules.def mpi_wrap.c.in PREPROCESSED \
#       > mpi_wrap_hot.c
#   awk -v fortran=1 -f mpi_gen.awk -f mpi_gen_f.awk mpi_calls.def mpi_rules.def mpi_wrap_f.c.in mpi_fortran.def \
#       PREPROCESSED SYMBOLS > mpi_wrap_f_hot.c
#
# mpi_calls.def  what to count for a call (see there); mpi_rules.def: its classes and rules
# mpi_wrap.c.in  readable C: text between "//@template T" and "//@end" is repeated at "//@calls" for every call of template T;
#                other text after "//@calls" is explanation and not copied
# PREPROCESSED   mpi.h after the C preprocessor
# mpi_fortran.def, SYMBOLS: see mpi_gen_f.awk
#
# A function is wrapped when the header declares both MPI_x and PMPI_x, so nothing has to be tested by configure.
# Only POSIX awk is used.

function fail(message) { print "mpi_gen.awk: " message > "/dev/stderr"; failed = 1; exit 1 }

FNR == 1 { file++ }

BEGIN {
    nvalues = split("comm peer tag source recvtag root number win group asked", stamp_by_value, " ")
    naddresses = split("status flag index indices outcount made request requests", stamp_by_address, " ")
}

# ---- mpi_calls.def
file == 1 && (/^[ \t]*#/ || NF == 0) { next }
file == 1 {
    if (NF < 2) fail(FILENAME ":" FNR ": a row needs a name and a class")
    nrows++
    row_name[nrows] = $1; row_class[nrows] = $2; row_rule[nrows] = ""; row_roles[nrows] = ""
    if (!($1 in row_of)) row_of[$1] = nrows
    if ($2 != "skip" && $2 != "hand" && NF > 2) {
        row_rule[nrows] = $3
        for (i = 4; i <= NF; i++) row_roles[nrows] = row_roles[nrows] (i > 4 ? " " : "") $i
    }
    next
}

# ---- mpi_rules.def
file == 2 && (/^[ \t]*#/ || NF == 0) { next }
file == 2 && $1 == "rule" { # NAME role, role, ...
    name = $2; sub(/^rule [^ ]+ */, ""); rule_args[name] = $0; next
}
file == 2 && $1 == "order" { order_of[$2] = $3; next } # RULE KIND
file == 2 && $1 == "even" { is_even[$2] = 1; next } # RULE
file == 2 { # class NAME template sends recvs colls piggyback
    if ($1 != "class" || NF != 7) fail(FILENAME ":" FNR ": neither a class nor a rule")
    class_template[$2] = $3; class_sends[$2] = $4; class_recvs[$2] = $5; class_colls[$2] = $6; class_stamp[$2] = $7; next
}

# ---- mpi_wrap.c.in
file == 3 && /^\/\/@template / { in_template = $2; template[in_template] = ""; next }
file == 3 && /^\/\/@end/ { in_template = ""; next }
file == 3 && in_template != "" { template[in_template] = template[in_template] $0 "\n"; next }
file == 3 && /^\/\/@/ { next_part[++nparts] = $1; text[nparts + 1] = ""; next }
file == 3 { text[nparts + 1] = text[nparts + 1] $0 "\n"; next }

# ---- what MPI's Fortran libraries define
fortran && file == 6 { if ($1 == "library") libraries[++nlibraries] = $2; else has_symbol[$2] = 1; next }

# ---- the header (and mpi_fortran.def, in the same form): collected as statements
/^[ \t]*#/ { next }
{
    gsub(/"([^"\\]|\\.)*"/, "\"\"")  # texts of deprecation attributes may hold ; and brackets
    statement = statement " " $0
    while ((p = index(statement, ";")) > 0) {
        declaration(substr(statement, 1, p - 1))
        statement = substr(statement, p + 1)
    }
}

function without_attributes(s,   p, q, depth, c) {
    while (match(s, /__attribute__ *\(/)) {
        p = RSTART; depth = 0
        for (q = p + RLENGTH - 1; q <= length(s); q++) {
            c = substr(s, q, 1)
            if (c == "(") depth++
            else if (c == ")" && --depth == 0) break
        }
        s = substr(s, 1, p - 1) " " substr(s, q + 1)
    }
    return s
}

function trim(s) { gsub(/[ \t]+/, " ", s); sub(/^ /, "", s); sub(/ $/, "", s); return s }

function declaration(s,   p, name, type, params) {
    if (s !~ /[^A-Za-z0-9_]P?MPI_[A-Z]/ || s ~ /typedef/) return
    s = trim(without_attributes(s))
    sub(/^extern /, "", s)
    if (!match(s, /[ *]P?MPI_[A-Za-z0-9_]+ ?\(/)) return
    type = trim(substr(s, 1, RSTART))
    if (type == "" || type ~ /[(={]/) return
    p = RSTART + RLENGTH
    name = substr(s, RSTART + 1, RLENGTH - 2); sub(/ $/, "", name)
    params = substr(s, p)
    if (params !~ /\)$/) return
    sub(/ ?\)$/, "", params)
    if (name ~ /^PMPI_/) { has_pmpi[substr(name, 2)] = 1; return }
    if (name in ret) return
    ret[name] = type; par[name] = trim(params); names[++nnames] = name
}

# ---- one call

# Splits the parameters of a call into pname[1..n] and pdecl[1..n]; a parameter without a name gets one. Returns n.
function parameters(name,   n, i, s, id) {
    if (par[name] == "void" || par[name] == "") return 0
    if (par[name] ~ /\(/) fail(name ": cannot read its parameters: " par[name])
    n = split(par[name], pdecl, ",")
    for (i = 1; i <= n; i++) {
        if (pdecl[i] !~ /[*\[]/) sub(/^ *const /, "", pdecl[i]) # of the copy that the function gets: ours may be kept in memory
        s = pdecl[i] = trim(pdecl[i])
        while (s ~ /\[[^\]]*\] ?$/) sub(/ ?\[[^\]]*\] ?$/, "", s)
        id = s; sub(/^.*[ *]/, "", id)
        if (id == s || id ~ /^(int|char|void|double|long|const|unsigned|MPI_.*|)$/) {
            id = "ompp_argument" i
            pdecl[i] = s " " id substr(pdecl[i], length(s) + 1)
        }
        pname[i] = id
    }
    return n
}

function find_row(name,   base, i, prefix) {
    if (name in row_of) return row_of[name]
    base = name
    if (sub(/_c$/, "", base) && (base in row_of)) return row_of[base]
    for (i = 1; i <= nrows; i++)
        if (row_name[i] ~ /\*$/) {
            prefix = substr(row_name[i], 1, length(row_name[i]) - 1)
            if (substr(name, 1, length(prefix)) == prefix) return i
        }
    return 0
}

# The C expression of a role in this call: the parameter's name; arrays of counts carry their width.
function expression(role) {
    if (!(role in role_param)) fail(call ": rule " rule " needs role " role)
    if (role == "message") return "ompp_message"
    if (role ~ /counts$/) return "ompp_mpi_counts(" role_param[role] ")"
    if (role ~ /types$/) return "ompp_mpi_types" (fortran ? "_f" : "") "(" role_param[role] ")"
    return fortran ? fortran_value(role) : role_param[role]
}

# What a call tells the clocks' piggybacks: initial values of an ompp_mpi_piggyback_t. Handles and numbers by value, the suspension by address.
function vector_values(op,   s, i, role) {
    s = ".op = OMPP_MPI_PIGGYBACK_" op ", .order = OMPP_MPI_ORDER_" (rule in order_of ? order_of[rule] : "ALL")
    s = s ", .fortran = " (fortran ? "true" : "false")
    for (i = 1; i <= nvalues; i++)
        if (stamp_by_value[i] in role_param) s = s ", ." stamp_by_value[i] " = " expression(stamp_by_value[i])
    for (i = 1; i <= naddresses; i++) {
        role = stamp_by_address[i]
        if (role in role_param) s = s ", ." (role == "request" ? "requests" : role) " = " role_param[role]
    }
    if ("comm" in role_param) s = s ", .commed = true"
    if (op ~ /COLL$/ && rule in is_even) s = s ", .even = true"
    if (op ~ /COLL$/ && rule == "none") s = s ", .bare = true"
    if (op ~ /COLL$/) s = s ", .refused = " refused()
    if ("request" in role_param) s = s ", .number = 1"
    for (i = 1; op ~ /SEND/ && i <= 2; i++) {
        role = i == 1 ? "" : "send"
        if ((role "count") in role_param && (role "type") in role_param)
            s = s ", .typed = true, .count = " expression(role "count") ", .type = " expression(role "type")
    }
    return s
}

# Before and after a call whose messages have no piggybacks, while clocks suspension; "" = it has no such way.
function suppressed_begin(op,   send, receive) {
    if (op ~ /^I?S?SEND(RECV)?$/) send = "ompp_mpi_suppressed_send(" value_or("comm") ", " value_or("peer") ", " value_or("tag") ", " can_send() ")"
    receive = "ompp_mpi_suppressed_receive(&ompp_suppressed, " value_or("comm") ", "
    if (op ~ /^I?S?SEND$/) return send
    if (op ~ /^I?RECV$/) return receive value_or("peer") ", " value_or("tag") ")"
    if (op == "SENDRECV") return receive value_or("source") ", " value_or("recvtag") ") && " send
    if (op ~ /^WAIT(ALL)?$/) return "ompp_mpi_suppressed_wait(&ompp_suppressed, " value_or("number", "1") ", " requests_of_call() ")"
    if (op == "COLL" && !(rule in order_of)) return "ompp_mpi_suppressed_collective(&ompp_suppressed, " value_or("comm") ", !(" refused() "))"
    return ""
}
function suppressed_end(op, result) {
    if (op ~ /^I?S?SEND$/) return "(void)ompp_suppressed"
    if (op == "IRECV") return "ompp_mpi_suppressed_started(&ompp_suppressed, " result ", " requests_of_call() ", ompp_end)"
    if (op ~ /^WAIT/) return "ompp_mpi_suppressed_waited(&ompp_suppressed, " result ", " requests_of_call() ")"
    if (op == "COLL") return "ompp_end = ompp_mpi_suppressed_met(&ompp_suppressed, " result ", ompp_end)"
    return "ompp_end = ompp_mpi_suppressed_end(&ompp_suppressed, " result ", ompp_end)"
}
function requests_of_call() { return role_or("requests", role_or("request")) ", " (fortran ? "true" : "false") }
function can_send(   role) {
    role = "count" in role_param ? "" : "send"
    return expression(role "count") " >= 0 && ompp_mpi_type_is_known(" expression(role "type") ")"
}

# What a call tells of messages that are compared at the end (mpi_pair.c); "" = nothing. After it:
function pair(op, class) {
    if (class ~ /^(mrecv|isendrecv)$/) return "ompp_mpi_pair_lost()"
    if (op ~ /^[SB]?SEND$/) return "ompp_mpi_pair_sent(" pair_of("peer", "tag") ", ompp_end)"
    if (op == "RECV") return "ompp_mpi_pair_received(" pair_of("peer", "tag") ", " pair_status() ", ompp_end)"
    if (op ~ /^I([SB]?SEND|RECV)$/) return "ompp_mpi_pair_begun(" pair_of("peer", "tag") ", " (op == "IRECV" ? "false" : "true") ", " requests_of_call() ")"
    if (op != "SENDRECV") return ""
    return "ompp_mpi_pair_exchanged(" value_or("comm") ", (const int[]){" value_or("peer") ", " value_or("tag") "}, (const int[]){" \
           value_or("source") ", " value_or("recvtag") "}, " pair_status() ", ompp_end)"
}
function pair_of(peer, tag) { return value_or("comm") ", " value_or(peer) ", " value_or(tag) }
function pair_status() { return role_or("status") ", " (fortran ? "true" : "false") }

# Before it: of requests that it ends, or may end.
function pair_requests(op) {
    return op ~ /^(WAIT|TEST|CANCEL|FORGET)/ ? "(" value_or("number", "1") ", " requests_of_call() ")" : ""
}

# Arguments of a collective call that matter on all ranks, and that MPI refuses.
function refused(   s) {
    s = "op" in role_param ? expression("op") " == MPI_OP_NULL" : "false"
    if (!("count" in role_param) || !("type" in role_param)) return s
    return s " || " expression("count") " < 0 || " expression("type") " == MPI_DATATYPE_NULL"
}

function role_or(role, otherwise) { return (role in role_param) ? role_param[role] : otherwise }
function value_or(role, otherwise) { return (role in role_param) ? expression(role) : otherwise }

# Wrapper of a call. symbol: its name for the linker; form: which binding, "" = C.
function expand(name, symbol, form,   n, i, k, roles, r, class, list, body, args, decl, code, piggyback, suppressed, counter, keep, code_of_pair, waits, requests) {
    call = name
    binding = form
    n = parameters(name)
    r = find_row(name)
    class = r ? row_class[r] : "other"
    rule = r ? row_rule[r] : ""
    if (!(class in class_template) && !(name in template)) fail(name ": no class " class)

    for (k in role_param) delete role_param[k]
    if (rule != "") {
        k = split(row_roles[r], roles, " ")
        if (k != n) fail(name ": " k " roles for " n " arguments")
        for (i = 1; i <= n; i++) if (roles[i] != "-") { role_param[roles[i]] = pname[i]; role_decl[roles[i]] = pdecl[i] }
        if (!(rule in rule_args)) fail(name ": no rule " rule)
    }

    if (fortran) n = fortran_parameters(name, n)
    decl = args = ""
    for (i = 1; i <= n; i++) { decl = decl (i > 1 ? ", " : "") pdecl[i]; args = args (i > 1 ? ", " : "") pname[i] }

    # A class whose calls count something, and a call of it that does not (MPI_Win_fence): only timed.
    body = template[rule == "" && class_template[class] == "counted" ? "timed" : class_template[class]]
    if (name in template) body = template[name]
    else if (fortran && ret[name] != "int" && ret[name] != "void") body = template["function"]
    code = "ompp_mpi_bytes_" rule "(ompp_values"
    k = split(rule == "" ? "" : rule_args[rule], list, /, */)
    for (i = 1; i <= k; i++) code = code ", " expression(list[i])
    code = code ")"
    if (rule == "none") body = without_lines(body, "@rule@")
    if (class != "coll" || !("comm" in role_param)) body = without_lines(body, "@meet@")
    piggyback = class_stamp[class] ""
    code_of_pair = pair(piggyback, class)
    if (code_of_pair == "") body = without_lines(body, "@pair@")
    waits = class ~ /^wait(all)?$/
    requests = pair_requests(piggyback)
    if (!waits) body = without_lines(body, "@pairs@")
    if (requests == "") body = without_lines(body, "@pair_")
    if (class != "created") body = without_lines(body, "@made@")
    if (!("message" in role_param)) body = without_lines(body, "@message@")
    if (piggyback == "" || piggyback == "none") body = without_lines(body, "ompp_piggyback")
    suppressed = piggyback == "" || piggyback == "none" ? "" : suppressed_begin(piggyback)
    if (suppressed == "") body = without_lines(body, "ompp_suppressed")
    if (!("status" in role_param)) body = without_lines(body, "@status@")

    # The one counter that a call of the class adds one to; OMPP_METRIC_MPI_NUM: none, or several.
    counter = class_sends[class] + class_recvs[class] + class_colls[class] != 1 ? "MPI_NUM" : \
              class_sends[class] ? "SENDS" : class_recvs[class] ? "RECVS" : "COLLS"
    keep = ""
    for (i = 1; i <= n; i++) keep = keep (i > 1 ? " " : "") "OMPP_MPI_KEEP(" pname[i] ");"

    # Longest lines are wrapped by nobody: the file is generated, the template is what people read.
    gsub(/@type@/, fortran && ret[name] == "int" ? "void" : ret[name], body)
    gsub(/@name@/, name, body)
    gsub(/@keep@/, keep, body)
    gsub(/@counter@/, "OMPP_METRIC_" counter, body)
    gsub(/@symbol@/, symbol, body)
    gsub(/@params@/, decl == "" ? "void" : decl, body)
    gsub(/@args@/, args, body)
    gsub(/@more@/, decl == "" ? "" : ", " decl, body)
    gsub(/@more_args@/, args == "" ? "" : ", " args, body)
    gsub(/@rule@/, code, body)
    gsub(/@meet@/, "ompp_mpi_meet(" value_or("comm") ", ompp_end)", body)
    gsub(/@pair@/, replacement(code_of_pair), body)
    gsub(/@pair_forget@/, replacement("ompp_mpi_pair_forget" requests), body)
    gsub(/@pair_begin@/, replacement(waits ? "const uint32_t ompp_pairs = ompp_mpi_pair_waits" requests : "ompp_mpi_pair_forget" requests), body)
    gsub(/@pairs@/, "ompp_pairs", body)
    gsub(/@made@/, "ompp_mpi_meet_created(" (fortran ? "PMPI_Comm_f2c(*" role_or("made") ")" : "*" role_or("made")) ")", body)
    gsub(/@message@/, role_or("message"), body)
    gsub(/@request@/, role_or("request"), body)
    gsub(/@number@/, value_or("number", "1"), body)
    gsub(/@requests@/, role_or("requests", role_or("request")), body)
    gsub(/@piggybacked@/, piggyback == "" || piggyback == "none" ? "false" : "ompp_piggybacked", body)
    if (body ~ /@piggyback@/) {
        list[0] = vector_values(piggyback)
        gsub("&", "\\\\&", list[0])
        gsub(/@piggyback@/, list[0], body)
    }
    gsub(/@passes@/, suppressed == "" ? "" : " \\&\\& !ompp_suppressed_call", body)
    if (suppressed != "") gsub("&", "\\\\&", suppressed)
    gsub(/@suppressed@/, suppressed, body)
    suppressed = suppressed == "" ? "" : suppressed_end(piggyback, fortran ? "*ierror" : "ompp_result")
    gsub("&", "\\\\&", suppressed)
    gsub(/@suppressed_end@/, suppressed, body)
    gsub(/@status@/, role_or("status"), body)
    gsub(/@sends@/, class_sends[class], body)
    gsub(/@recvs@/, class_recvs[class], body)
    gsub(/@colls@/, class_colls[class], body)
    printf "%s", body
}

function replacement(s) { gsub("&", "\\\\&", s); return s }

function without_lines(body, mark,   n, i, lines, out) {
    n = split(body, lines, "\n")
    out = ""
    for (i = 1; i < n; i++) if (!index(lines[i], mark)) out = out lines[i] "\n"
    return out
}

# ---- output

function wrapped(name) { return name in has_pmpi }

function sort_names(   i, j, v) {
    for (i = 2; i <= nnames; i++) {
        v = names[i]
        for (j = i - 1; j > 0 && names[j] > v; j--) names[j + 1] = names[j]
        names[j + 1] = v
    }
}

function each(part,   i, class) {
    for (i = 1; i <= nnames; i++) {
        class = row_class[find_row(names[i])]
        if (class == "skip") continue
        if (fortran) { fortran_each(part, names[i]); continue }
        if (!wrapped(names[i])) continue
        if (part == "//@names") print "    \"" names[i] "\","
        else if (class == "hand") continue
        else if (part == "//@weak") print "#undef " names[i] "\n#pragma weak P" names[i]
        else if (part == "//@calls") expand(names[i], names[i], "")
    }
}

END {
    if (failed) exit 1
    if (nnames == 0) fail("no MPI function found in the preprocessed mpi.h")
    sort_names()
    print "/* Generated from mpi_wrap" (fortran ? "_f" : "") ".c.in, mpi_calls.def and the installed MPI by mpi_gen.awk. Do not edit. */"
    for (i = 1; i <= nparts; i++) {
        printf "%s", text[i]
        if (next_part[i] == "//@libraries") fortran_libraries()
        else each(next_part[i])
    }
}
