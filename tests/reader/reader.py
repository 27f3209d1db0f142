#!/usr/bin/env python3
"""ompp-report on reports in ompP's formats: shown again as they were, converted, checked; rubbish refused in one line.

usage: reader.py [part...]; parts: samples identity convert order positions bad mutated cli pipe status
"""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

SOURCE = os.environ.get('abs_top_srcdir', os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get('abs_top_builddir', '.')
REPORT = os.path.join(BUILD, 'ompp-report')
HERE = os.path.join(SOURCE, 'tests', 'reader')
SAMPLES = os.path.join(HERE, 'samples')
GOLDEN = os.path.join(SOURCE, 'tests', 'golden')
failed = []


def say(text):
    failed.append(text)
    print('FAIL: ' + text)


def load(path):
    sys.path.insert(0, os.path.dirname(path))  # of what it imports itself
    spec = importlib.util.spec_from_file_location(os.path.basename(path).replace('-', '_')[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*words):
    """(status, stdout, stderr) as bytes."""
    p = subprocess.run([REPORT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    return p.returncode, p.stdout, p.stderr


def content(path):
    with open(path, 'rb') as file:
        return file.read()


def samples(ending):
    return sorted(os.path.join(SAMPLES, f) for f in os.listdir(SAMPLES) if f.endswith(ending))


def reports():
    """Every good text or CSV report at hand: the samples, our golden ones."""
    found = [os.path.join(GOLDEN, f) for f in sorted(os.listdir(GOLDEN)) if f.endswith(('.txt', '.csv')) and f != 'exports.txt']
    return samples('.txt') + samples('.csv') + found


class Scratch:
    """A file that holds what a test wants."""

    def __init__(self):
        self.dir = tempfile.TemporaryDirectory()

    def write(self, name, data):
        path = os.path.join(self.dir.name, name)
        with open(path, 'wb') as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        return path


scratch = Scratch()


# ---- Parts -----------------------------------------------------------------------------------------------------------

def part_samples():
    """The samples are what the second writer writes."""
    for name, text in load(os.path.join(HERE, 'make-samples.py')).SAMPLES.items():
        if content(os.path.join(SAMPLES, name)).decode() != text:
            say('%s is not what make-samples.py writes' % name)


def part_identity():
    for path in reports():
        status, out, err = run('csv' if path.endswith('.csv') else 'show', path)
        if status or err:
            say('%s: status %d: %s' % (path, status, err.decode()))
        if out != content(path):
            say('%s: not printed as it is' % path)
    dos = content(samples('plain.txt')[0]).replace(b'\n', b'\r\n')
    if run(scratch.write('dos.txt', b'\xef\xbb\xbf' + dos))[1] != dos.replace(b'\r', b''):
        say('lines that end with carriage return and newline, after a byte order mark')
    latin = content(samples('plain.txt')[0]).replace(b'other.c', b'oth\xe9r.c')
    if run(scratch.write('latin.txt', latin))[1] != latin:
        say('a file name that is not UTF-8')
    negative = content(samples('plain.txt')[0]).replace(b'  0.50 ( 5.00', b' -0.50 (-5.00').replace(b'1.00 (10.00)', b'1.00 ( -nan)')
    if run(scratch.write('negative.txt', negative))[1] != negative:
        say('negative numbers, and such as are none')
    # Values that there are none of, and columns that are neither known nor counters.
    text, csv = content(os.path.join(SAMPLES, 'eval.txt')), content(os.path.join(SAMPLES, 'eval.csv'))
    derived = text.replace(b' OMPP_EVAL2 ', b'   faults/s ').replace(b'        1.14 ', b'           - ')
    if run(scratch.write('derived.txt', derived))[1] != derived or derived == text:
        say('derived values in text')
    derived = csv.replace(b'OMPP_EVAL2 ', b'faults/s').replace(b',1.142857', b',')
    if run('csv', scratch.write('derived.csv', derived))[1] != derived or derived == csv:
        say('derived values in CSV')


def only_numbers(data):
    """Every cell of a CSV report as number or word; the header left out."""
    text = data.decode().split('##END header\n')[1]
    return [[cell.strip() for cell in line.split(',')] for line in text.split('\n')]


def same_number(a, b):
    """b is a, or a rounded to the digits of b."""
    if a == b:
        return True
    try:
        x, y = float(a), float(b)
    except ValueError:
        return False
    digits = len(b.split('.')[1]) if '.' in b else 0
    return abs(x - y) <= 0.5 * 10 ** -digits + 1e-9


def part_convert():
    """Text to CSV and back loses what CSV has not; CSV to text and back keeps the digits of text."""
    left_out = re.compile(rb'^(User Time|System Time|Data [A-Za-z .]*?) *: .*\n', re.M)
    for path in samples('.txt'):
        status, made, err = run('csv', path)
        missing = {line.split(b': left out: ')[1].split(b',')[0] for line in err.splitlines() if b'left out: ' in line}
        stated = {m[1].strip() for m in left_out.finditer(content(path))}
        if status or missing != stated or b'times have the 2 digits' not in err:
            say('%s: to CSV: %d, left out %s of %s' % (path, status, missing, stated))
        back = run('show', scratch.write('made.csv', made))[1]
        want = re.sub(rb'LOCK \(<(0x[0-9a-f]+)>\) (\(collapsed stats\))?\n', rb'LOCK (<\1>)\n', left_out.sub(b'', content(path)))
        if back != want and 'mpi-counters' not in path:  # which CSV puts right
            say('%s: to CSV and back' % path)
    for path in samples('.csv'):
        status, made, err = run('show', path)
        if status or b'User Time' not in err or b'rounded from 6 to 2' not in err:
            say('%s: to text: %d: %s' % (path, status, err.decode()))
        back = run('csv', scratch.write('made.txt', made))[1]
        old, new = only_numbers(content(path)), only_numbers(back)
        if 'v06' in path:
            continue  # its fields have another order
        for a, b in zip(old, new):
            if len(a) != len(b) or not all(same_number(x, y) for x, y in zip(a, b)):
                say('%s: to text and back: %s became %s' % (path, a, b))
        if len(old) != len(new):
            say('%s: to text and back: %d lines became %d' % (path, len(old), len(new)))
    six = run('show', '--digits=6', samples('plain.csv')[0])
    if not re.search(rb'\n   0       8.000000          1 ', six[1]) or b'rounded' in six[2]:
        say('CSV to text with six digits')
    for name in ('plain', 'eval', 'mpi', 'locks', 'serial', 'v070'):
        text, csv = (content(os.path.join(SAMPLES, name + ending)) for ending in ('.txt', '.csv'))
        made = run('show', os.path.join(SAMPLES, name + '.csv'))[1]
        want = re.sub(rb'LOCK \(<(0x[0-9a-f]+)>\) (\(collapsed stats\))?\n', rb'LOCK (<\1>)\n', left_out.sub(b'', text))
        if made != want:
            say('%s.csv as text is not %s.txt' % (name, name))


def part_order():
    """ompp-report check accepts them all."""
    status, out, err = run('check', *reports())
    if status or err or out.count(b': in order: ') != len(reports()):
        say('check: status %d\n%s%s' % (status, out.decode(), err.decode()))


# Columns by position that TAU's importer takes: row of a callgraph profile, by what the name of the leaf holds.
TAU = [(('USER REGION', 'MASTER'), ['execT/I', 'execT/E', 'execC']), (('BARRIER', 'ATOMIC', 'FLUSH'), ['execT', 'execC']),
       (('SINGLE',), ['execT', 'execC', 'singleT/I', 'singleT/E']),
       (('CRITICAL',), ['execT', 'execC', 'bodyT/I', 'bodyT/E', 'enterT', 'exitT']),
       (('PARALLEL',), ['execT', 'execC', '*/I', '*/E', None, None, None]), (('LOOP',), ['execT', 'execC', 'bodyT/I', 'bodyT/E', 'exitBarT'])]


def part_positions():
    """Readers of others find the columns where ompP has them: in our CSV, too."""
    for name in ('constructs', 'serial', 'tasks', 'unresolved'):
        status, out, err = run('csv', os.path.join(GOLDEN, name + '.xml'))
        lines = out.decode().split('\n')
        keys = [line.split(',')[0] for line in lines[1:lines.index('##END header')]]
        if status or lines[0] != '##BEG header separator=,' or 'Thread Count' not in keys or '##BEG ompp callgraph' not in lines:
            say('%s: header: %s' % (name, keys))
            continue
        root = lines[lines.index('##BEG ompp callgraph') + 2].split(',')
        if not re.fullmatch(r'\[.*: \d+ threads\]', root[-1]) or [float(x) for x in root[:2]][1] != 100.0:
            say('%s: line of the program: %s' % (name, root))
        at, end = lines.index('##BEG callgraph region profiles'), lines.index('##END callgraph region profiles')
        for i in range(at, end):
            if not lines[i].startswith('TID,'):
                continue
            leaf, head = lines[i - 1], lines[i].split(',')
            want = next((columns for words, columns in TAU if any(w in leaf for w in words)), [])
            found = head[1:1 + len(want)]
            if any(w and f != w and not (w[0] == '*' and f.endswith(w[1:])) for w, f in zip(want, found)):
                say('%s: %s has %s where %s is read' % (name, leaf, found, want))
            if not lines[i + 1].split(',')[0].isdigit() or len(lines[i + 1].split(',')) != len(head):
                say('%s: first row of %s: %s' % (name, leaf, lines[i + 1]))


def one_line(name, result, pattern):
    status, out, err = result
    lines = err.decode(errors='replace').split('\n')
    if status != 1 or out or len(lines) != 2 or not re.search(pattern, lines[0]) or not re.search(r'; \w', lines[0]):
        say('%s: status %d, printed %d bytes, said %r, not %s' % (name, status, len(out), err[:300], pattern))


def part_bad():
    """One line: file, line, reason, what to do."""
    text, csv = content(samples('eval.txt')[0]), content(samples('eval.csv')[0])
    line_of = {name: data[:data.index(word)].count(b'\n') + 1 for name, data, word in (
        ('sum', text, b' SUM '), ('node', text, b'|-R00002'), ('row', csv, b'\n0,'), ('level', csv, b',2,R00003'))}
    plain = [
        ('empty', b'', ':1: the file is empty'), ('words', b'hello\n', ':1: no report'), ('binary', bytes(range(256)), ':1: no report'),
        ('nul', text.replace(b'demo', b'de\0mo').replace(b'de:mo', b'de\0mo'), r':\d+: the character 0x00 in column \d+'),
        ('escape', text.replace(b'de:mo', b'\033[2J'), r':7: the character 0x1b'),
        ('long line', text[:200] + b'x' * (2 << 20) + text[200:], ':3: a line of more than 1048576'),
        ('long line of CSV', csv[:30] + b'1,' * (1 << 20), ':2: a line of more than'),
        ('two reports', text + text, r':\d+: the section "ompP General Information" stands here a second time'),
        ('two CSV reports', csv + csv, r':\d+: the section "ompP General Information" stands here a second time'),
        ('no overview', re.sub(rb'-{70}\n----     ompP Region O.*?(?=-{70}\n----     ompP Callgraph  )', b'', text, flags=re.S),
         'the section "ompP Region Overview" is missing; the file is cut off'),
        ('other separator', csv.replace(b'separator=,', b'separator=;'), ':1: another separator'),
    ]
    changes = [
        (text, b'PARALLEL: 1 region:', b'PARALLEL: 2 regions:', ':34: .* is not " . R00001 place"'),
        (text, b'PARALLEL: 1 region:', b'PARALLELS: 1 region:', ':32: .*no known type of region.*newer'),
        (text, b'R00003 my code.c (24-30) LOOP', b'R00003 my code.c (24-30) LOOPING', 'type of region that is known'),
        (text, b'Duration        : 10.00 sec', b'Duration        : long', ':6: .*Duration'),
        (text, b'10.00 (100.0%)', b'10.00 100.0%', 'is not the line of the whole program'),
        (text, b'|-R00002', b'|  |-R00002', ':%d: level 2 of the callgraph follows level 0' % line_of['node']),
        (text, b' SUM ', b' SUM 1 ', ':%d: the row does not fit' % line_of['sum']),
        (text, b'1.968.000.000', b'1.96.000.000', r':\d+: the row does not fit'),
        (text, b'[+01] R00002', b'[+02] R00002', r':\d+: level 2 follows level 0'),
        (text, b'Wallclock (%)', b'Wallcock (%)', r':\d+: .*titles of the table of wallclocks'),
        (text, b'8.00 (80.00) ', b'8.00 80.00 ', r':\d+: .*wallclock and percentage'),
        (text, b' (%)  +  Imbal', b' (%)  +  Other', r':\d+: Imbal is not among the classes'),
        (csv, b'##END region overview', b'##END overview', r':\d+: '),
        (csv, b',2,R00003', b',3,R00003', ':%d: level 3 follows level 1' % line_of['level']),
        (csv, b'\n0,8.000000,', b'\n0,8.000000,7,', ':%d: the row does not fit the 11 titles' % (line_of['row'] + 1)),
        (csv, b'PARALLEL,1\n', b'PARALLEL,2\n', r':\d+: "LOOP,1" is not a region'),
        (csv, b'##BEG R00003 flat', b'##BEG R00004 flat', r':\d+: another region than in the line ##BEG'),
        (csv, b'Number of threads,2', b'Number of threads,99999999999', r':\d+: .*Number of threads'),
        (csv, b'16.000000', b'16.00000000000000000001', r':\d+: '), (csv, b'16.000000', b'99999999999999999999', r':\d+: '),
    ]
    for name, data, pattern in plain:
        one_line(name, run('show', scratch.write('bad', data)), 'bad' + pattern if pattern[0] == ':' else pattern)
    for data, old, new, pattern in changes:
        if old not in data:
            say('%r is not there to be changed' % old)
        one_line('%r' % new, run('csv', scratch.write('bad', data.replace(old, new, 1))), 'bad:.*' + pattern.lstrip(':') if pattern[0] != ':' else 'bad' + pattern)
    for data in (text, csv):  # the last lines are blank: without them the report is whole
        whole = len(data.rstrip())
        for n in list(range(1, whole - 40, 97)):
            one_line('cut at %d' % n, run('show', scratch.write('bad', data[:n])), r'bad:\d+: ')
    one_line('directory', run('show', scratch.dir.name), ': Is a directory')
    one_line('missing', run('csv', '/nonexistent/report'), 'No such file')
    big = scratch.write('big', '')
    with open(big, 'wb') as file:
        file.write(text)
        file.truncate(300 << 20)
    one_line('gigantic', run('show', big), 'big:1: more than 256 MiB')


def part_mutated():
    """A number changed by more than rounding is noticed."""
    mutate = load(os.path.join(SOURCE, 'tests', 'check', 'mutate.py'))
    names, what = [], {}
    for sample in ('mpi.txt', 'locks.txt', 'constructs.txt', 'tasks.txt'):
        path = os.path.join(SAMPLES if sample in ('mpi.txt', 'locks.txt') else GOLDEN, sample)
        lines = content(path).decode().split('\n')
        numbers = [n for n in mutate.numbers(lines) if not re.match(r'R\d+ .*\)( [A-Z ]+| )?$', lines[n[0]])]  # headings
        for i, start, end in numbers[::5]:
            changed = lines[:i] + [lines[i][:start] + mutate.changed(lines[i][start:end]) + lines[i][end:]] + lines[i + 1:]
            names.append(scratch.write('%s-%d-%d' % (sample, i + 1, start), '\n'.join(changed)))
            what[names[-1]] = '%s:%d: %r as %r' % (sample, i + 1, lines[i][start:end], changed[i])
    status, out, err = run('check', *names)
    accepted = [line.split(': in order')[0] for line in out.decode().split('\n') if ': in order' in line]
    for path in accepted:
        say('check does not notice ' + what[path])
    if status != 1 or len(names) < 100:
        say('mutated reports: %d of them, status %d' % (len(names), status))


def part_cli():
    good = samples('plain.txt')[0]
    for words, status, out, err in [
            (['--help'], 0, b'usage: ompp-report', b''), (['show', '--help'], 0, b'usage: ompp-report show', b''),
            (['csv', '--help'], 0, b'usage: ompp-report csv', b''), (['check', '--help'], 0, b'usage: ompp-report check', b''),
            (['convert', '--help'], 0, b'usage: ompp-report convert', b''), (['--version'], 0, b'ompp-report ', b''),
            (['-v'], 0, b'ompp-report ', b''), (['-h'], 0, b'usage: ompp-report', b''), (['help'], 0, b'usage: ompp-report', b''),
            (['help', 'csv'], 0, b'usage: ompp-report csv', b''), (['shwo', good], 2, b'', b'did you mean show? shwo'),
            ([], 2, b'', b'name a file'), (['show'], 2, b'', b'name a file'), (['--digits=x', good], 2, b'', b'digits are 0 to 9'),
            (['csv', '--digits=3', good], 2, b'', b'--digits is not for: csv'), (['--what', good], 2, b'', b'unknown option: --what'),
            (['show', good, good], 2, b'', b'name one file only'), (['--', good], 0, b'---', b''),
            (['check', good, '/nonexistent'], 1, b'in order', b'No such file'), (['show', '--digits=0', good], 0, b'10 sec', b''),
            (['show', '--digits=5', good], 0, b'10.00 sec', b'the report has no more'), (['convert', good], 1, b'', b'plain.txt: not what a run leaves')]:
        result = run(*words)
        if result[0] != status or out not in result[1] or err not in result[2] or (not out and result[1]) or (not err and result[2]):
            say('ompp-report %s: %r' % (' '.join(words), result))
    with open('/dev/full', 'wb') as full:
        p = subprocess.run([REPORT, 'show', good], stdout=full, stderr=subprocess.PIPE)
    if p.returncode != 1 or b'No space' not in p.stderr:
        say('a full disk: %r' % p)


def part_pipe():
    """What comes through a pipe, also under the names that systems give it, is read as a file is."""
    for name, words in (('plain.txt', ['show']), ('plain.csv', ['csv']), ('plain.xml', ['show']), ('plain.xml', ['check']), ('whatif.xml', ['coz'])):
        path = os.path.join(GOLDEN, name) if name.endswith('.xml') else samples(name)[0]
        wanted = run(*words, path)
        with open(path, 'rb') as file:
            data = file.read()
        for given in ('-', '/dev/stdin', '/proc/self/fd/0'):
            p = subprocess.run([REPORT, *words, given], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            out = wanted[1].replace(path.encode(), b'standard input' if given == '-' else given.encode())
            if wanted[0] != 0 or (p.returncode, p.stdout, p.stderr) != (0, out, b''):
                say('%s of %s through a pipe, as %s: %r' % (words, name, given, p))
        with open(path, 'rb') as file:
            p = subprocess.run([REPORT, *words, '-'], stdin=file, stdout=subprocess.PIPE)
        if (p.returncode, p.stdout) != (0, wanted[1].replace(path.encode(), b'standard input')):
            say('%s of %s as standard input: %r' % (words, name, p))
    p = subprocess.run([REPORT, '-'], input=data[:-40], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode != 1 or p.stdout or b'standard input:' not in p.stderr or b'cut off' not in p.stderr or p.stderr.count(b'\n') != 1:
        say('cut off in a pipe: %r' % p)
    p = subprocess.run([REPORT, '-'], input=b'', stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode != 1 or b'standard input:' not in p.stderr or b'empty' not in p.stderr:
        say('an empty pipe: %r' % p)
    with subprocess.Popen(['yes'], stdout=subprocess.PIPE) as endless:
        p = subprocess.run([REPORT, '-'], stdin=endless.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        endless.stdout.close()
    if p.returncode != 1 or b'standard input: File too large' not in p.stderr:
        say('a pipe without end: %r' % p)


def part_status():
    """0 good, 1 failed, 2 wrong usage: all commands alike. (kinst-ompp alone prints its usage and fails, as ompP's.)"""
    for words, status in [(['ompp-config'], 2), (['ompp-config', '--nosuch'], 2), (['ompp-config', '--help'], 0),
                          (['ompp-struct'], 2), (['ompp-struct', '--nosuch'], 2), (['ompp-struct', '--help'], 0),
                          (['ompp-struct', '/nonexistent'], 1), (['ompp'], 2),
                          (['ompp', '--nosuch', 'true'], 2), (['ompp', '--help'], 0), (['ompp', '/nonexistent/program'], 127),
                          (['kinst-ompp', '--nosuch', 'gcc'], 2), (['kinst-ompp', '--help'], 0), (['kinst-ompp'], 1)]:
        p = subprocess.run([os.path.join(BUILD, words[0]), *words[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if p.returncode != status:
            say('%s: status %d: %s' % (' '.join(words), p.returncode, p.stderr.decode()))


PARTS = {name[5:]: part for name, part in list(globals().items()) if name.startswith('part_')}

if __name__ == '__main__':
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()
    print('%d failures' % len(failed))
    sys.exit(1 if failed else 0)
