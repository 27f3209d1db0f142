#!/usr/bin/env python3
"""
What people read: on a terminal a report is sorted by time and what carries little is folded; in a pipe, and with --full, it is as in the
file. Options that sort and select, colors, JSON.

usage: view.py [part...]; parts: terminal sorted selected wrong colors json doctor progress
"""
import importlib.util
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ.get('abs_top_srcdir', os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
REPORT = os.path.join(os.environ.get('abs_top_builddir', '.'), 'ompp-report')
GOLDEN = os.path.join(SOURCE, 'tests', 'golden')
failed = []
work = tempfile.TemporaryDirectory()


def check(good, text):
    if not good:
        failed.append(text)
        print('FAIL: ' + text)
    return good


def environment(**changes):
    keep = {k: v for k, v in os.environ.items() if k not in ('NO_COLOR', 'TERM')}
    keep.update({'TERM': 'xterm', 'TZ': 'UTC0', **changes})
    return keep


def run(*words, **changes):
    """(status, stdout, stderr), as in a pipe."""
    p = subprocess.run([REPORT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, env=environment(**changes))
    return p.returncode, p.stdout.decode(errors='replace'), p.stderr.decode(errors='replace')


def on_terminal(*words, **changes):
    """What a terminal shows, lines ended as a program ends them."""
    master, slave = pty.openpty()
    p = subprocess.Popen([REPORT, *words], stdin=slave, stdout=slave, stderr=slave, env=environment(**changes))
    os.close(slave)
    out = b''
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # its other side is closed
            break
        if not piece:
            break
        out += piece
    os.close(master)
    check(p.wait(timeout=60) == 0, '%s on a terminal: status %d' % (' '.join(words), p.returncode))
    return out.decode(errors='replace').replace('\r\n', '\n')


def golden(name):
    return os.path.join(GOLDEN, name + '.xml')


def load_profiles():
    spec = importlib.util.spec_from_file_location('make_profiles', os.path.join(GOLDEN, 'make-profiles.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def many():
    """A run of two ranks: three user regions with 5, 30 and 12 % of it, and twenty with less than 0.1 %."""
    path = os.path.join(work.name, 'many.xml')
    if not os.path.exists(path):
        p = load_profiles().Profile('many', ranks=2, threads=1, mpi=True)
        ms = {'small': 500, 'large': 3000, 'middle': 1200, **{'tiny%d' % i: 2 for i in range(20)}}
        for i, (name, time) in enumerate(ms.items()):
            region = p.region('USER REGION', i + 1, begin=10 * i + 1, end=10 * i + 5, name=name)
            p.all(p.node(region, 0, i), 100 - i, exec=time)
        with open(path, 'w') as file:
            file.write(p.xml())
    return path


def callgraph(text):
    """Names in the callgraph, in its order."""
    part = text.split('ompP Callgraph  ')[1].split('ompP Flat')[0]
    return re.findall(r"R\d{5} \S+ \([0-9-]+\) \('(\w+)'\)", part)


def flat(text):
    part = text.split('ompP Flat Region Profile')[1].split('ompP Callgraph Region Profiles')[0]
    return re.findall(r"R\d{5} \S+ \([0-9-]+\) \('(\w+)'\)", part)


# ---- Parts -----------------------------------------------------------------------------------------------------------

def part_terminal():
    whole = run(many())[1]
    check(len(callgraph(whole)) == 23 and callgraph(whole)[0] == 'small', 'pipe: %s' % callgraph(whole))
    check(run('--full', many())[1] == whole, '--full is another report')
    check(on_terminal('--full', '--color=never', many()) == whole, '--full on a terminal is not the report of the file')
    shown = on_terminal('--color=never', many())
    check(callgraph(shown) == ['large', 'middle', 'small'], 'terminal: callgraph has %s' % callgraph(shown))
    check(flat(shown) == ['large', 'middle', 'small'], 'terminal: flat profile has %s' % flat(shown))
    told = [line for line in shown.split('\n') if 'that carry less' in line]
    check(len(told) == 1 and told[0].startswith('and 20 call paths') and '0.40 %' in told[0], 'terminal: says %s' % told)
    check('that carry less' not in whole, 'the pipe folds')
    for name in ('constructs', 'mpi'):  # nothing is below 0.1 %: as long as the file
        check(len(on_terminal('--color=never', golden(name)).split('\n')) == len(run(golden(name))[1].split('\n')), name + ' lacks lines')


def part_sorted():
    for key, first in (('time', ['large', 'middle', 'small']), ('own', ['large', 'middle', 'small']), ('place', ['small', 'large', 'middle']),
                       ('file', ['small', 'large', 'middle']), ('calls', ['small', 'large', 'middle'])):
        out = run('--sort=' + key, many())[1]
        check(callgraph(out)[:3] == first and flat(out)[:3] == first, '--sort=%s: %s' % (key, flat(out)[:3]))
        check(len(flat(out)) == 23, '--sort=%s: %d regions' % (key, len(flat(out))))
    # the numbers are those of the file, whatever their order
    for name in ('constructs', 'mpi', 'tasks', 'unresolved'):
        whole, other = run(golden(name))[1], run('--sort=own', golden(name))[1]
        check(sorted(re.findall(r'\d+\.\d+', whole)) == sorted(re.findall(r'\d+\.\d+', other)), name + ': other numbers when sorted')
        path = os.path.join(work.name, 'sorted.txt')
        with open(path, 'w') as file:
            file.write(other)
        check(run('check', path)[0] == 0, '%s sorted is not in order: %s' % (name, run('check', path)[2]))


def part_selected():
    check(flat(run('--top=2', many())[1]) == ['large', 'middle'], '--top=2: %s' % flat(run('--top=2', many())[1]))
    check(flat(run('--top', '1', '--sort=place', many())[1]) == ['small'], '--top 1 --sort=place')
    check(flat(run('--min=10', many())[1]) == ['large', 'middle'], '--min=10')
    check(flat(run('--min=5%', many())[1]) == ['small', 'large', 'middle'], '--min=5%')
    check(len(flat(on_terminal('--color=never', '--min=0', many()))) == 23, '--min=0 on a terminal')
    for name in ('R00003', 'r3', 'middle', 'MIDDLE', "('middle')", '(21-25)', 'USER REGION solve.c (21-'):
        check(flat(run('--region=' + name, many())[1]) == ['middle'], '--region=%s: %s' % (name, flat(run('--region=' + name, many())[1])))
    out = run('--region=CRITICAL', golden('constructs'))[1]  # with the parallel region around it
    check(re.findall(r'^ \* (R\d+)', out, re.M) == ['R00001', 'R00007'], 'around the critical section: %s' % re.findall(r'^ \* (R\d+)', out, re.M))
    whole, out = run(golden('mpi'))[1], run('--rank=1', golden('mpi'))[1]
    tables = out.split('ompP Flat')[1]
    check(re.search(r'^ +1 +0 ', tables, re.M) and re.search(r'^ +oth', tables, re.M) and not re.search(r'^ +0 +\d ', tables, re.M),
          '--rank=1 shows other rows')
    check([x for x in whole.split('\n') if x.startswith(' SUM')] == [x for x in out.split('\n') if x.startswith(' SUM')], '--rank=1: other sums')
    for words in (['--rank=1', golden('mpi')], ['--top=1', golden('ranks20')], ['--min=5', golden('properties')], ['--rank=0', golden('properties')]):
        path = os.path.join(work.name, 'selected.txt')
        with open(path, 'w') as file:
            file.write(run(*words)[1])
        check(run('check', path)[0] == 0, '%s is not in order: %s' % (words, run('check', path)[2]))


def part_wrong():
    for words, status, said in (
            (['--sort=speed'], 2, 'sort by time, own, calls, place or file, not: speed'), (['--sort='], 2, 'not: nothing'),
            (['--top=0'], 2, '1 or more, not: 0'), (['--top=-3'], 2, 'not: -3'), (['--top=99999999999999999999'], 2, 'not: 9'), (['--top=x'], 2, 'not: x'),
            (['--rank=x'], 2, 'a rank is a number, not: x'), (['--rank=-1'], 2, 'not: -1'), (['--rank=2'], 1, 'no rank 2, but ranks 0 to 1'),
            (['--min=101'], 2, 'from 0 to 100, not: 101'), (['--min=x'], 2, 'not: x'), (['--min=nan'], 2, 'not: nan'), (['--min=-1'], 2, 'not: -1'),
            (['--region='], 2, 'give --region= a number'), (['--region=nowhere'], 1, "no region has 'nowhere'"), (['--region=R99'], 1, "'R99'"),
            (['--color=red'], 2, 'auto, always or never, not: red')):
        rc, out, err = run(*words, golden('mpi'))
        check(rc == status and not out and said in err and err.count('\n') == 1 and err.startswith('ompp-report: '),
              '%s: status %d, %r' % (words, rc, err))
    for words in (['--by=flat', '--top=1'], ['--json', '--by=caller'], ['--json', '--rank=0']):
        rc, out, err = run(*words, golden('mpi'))
        check(rc == 2 and not out and err.count('\n') == 1, '%s: status %d, %r' % (words, rc, err))
    for word in ('--top=1', '--json', '--rank=0'):
        rc, out, err = run(word, os.path.join(GOLDEN, 'mpi.txt'))
        check(rc == 1 and not out and 'name the XML' in err and err.count('\n') == 1, '%s of text: %d %r' % (word, rc, err))
    for word in ('--top=1', '--json', '--color=never'):
        check(run('csv', word, golden('mpi'))[0] == 2, word + ' is taken by csv')
    text = on_terminal('--color=never', os.path.join(GOLDEN, 'mpi.txt'))
    with open(os.path.join(GOLDEN, 'mpi.txt')) as file:
        check(text == file.read(), 'a text report on a terminal is not as in the file')


def part_colors():
    whole = run(golden('mpi'))[1]
    for words, changes, colored in ((['--color=always'], {}, True), (['--color=never'], {}, False), ([], {}, False)):
        check(('\033[' in run(*words, golden('mpi'), **changes)[1]) == colored, 'pipe %s' % words)
    for words, changes, colored in (([], {}, True), (['--color=auto'], {}, True), (['--color=never'], {}, False), ([], {'NO_COLOR': '1'}, False),
                                    ([], {'TERM': 'dumb'}, False), (['--color=always'], {'NO_COLOR': '1'}, True)):
        check(('\033[' in on_terminal(*words, golden('mpi'), **changes)) == colored, 'terminal %s %s' % (words, changes))
    check(re.sub('\033\\[[0-9;]*m', '', run('--color=always', golden('mpi'))[1]) == whole, 'colors change more than colors')
    check('\033[' in on_terminal('check', golden('mpi')) and '\033[' not in run('check', golden('mpi'))[1], 'check')


def part_json():
    for name in sorted(f[:-4] for f in os.listdir(GOLDEN) if f.endswith('.xml')):
        rc, out, err = run('show', '--json', golden(name))
        if not check(rc == 0 and not err, '%s: %d %s' % (name, rc, err)):
            continue
        found = json.loads(out)
        text = run(golden(name))[1]
        check(len(found['regions']) == len(re.findall(r'^ \* R', text, re.M)), name + ': regions')
        check({p['region'] for p in found['call_paths']} == {r['number'] for r in found['regions']}, name + ': call paths')
        check('%.2f' % (found['duration_ns'] / 1e9) in re.search(r'^Duration.*', text, re.M).group(0), name + ': duration')
    check([r['name'] for r in json.loads(run('--json', '--top=2', many())[1])['regions']] == ['large', 'middle'], '--json --top=2')
    odd = os.path.join(work.name, 'odd.xml')
    with open(many()) as file:
        text = file.read()
    with open(odd, 'w') as file:  # a quote, backslashes, a newline, a control character, a byte that is not UTF-8, a letter beyond ASCII
        file.write(text.replace('"large"', '"a&quot;b\\\\c\\x0a\\x01\\xffd\u00e9"'))
    names = [r.get('name') for r in json.loads(run('--json', odd)[1])['regions']]
    check('a"b\\c\n\x01\ufffdd\u00e9' in names, 'names: %r' % names[:3])
    check(json.loads(on_terminal('--json', many()))['ranks'] == 2, 'JSON on a terminal')
    broken, gone = os.path.join(work.name, 'a"b.xml'), os.path.join(work.name, 'gone')
    with open(broken, 'w') as file:
        file.write(text.replace('duration-ns="10000000000"', 'duration-ns="1000000"'))
    rc, out, err = run('check', '--json', golden('mpi'), broken, gone, os.path.join(GOLDEN, 'mpi.txt'))
    found = json.loads(out)
    check(rc == 1 and [f['in_order'] for f in found] == [True, False, False, True], 'check --json: %d %s' % (rc, out))
    check(found[1]['file'] == broken and found[1]['read'] and len(found[1]['objections']) > 1, 'check --json of a broken file: %s' % found[1])
    check(not found[2]['read'] and gone in err, 'check --json of no file: %s' % found[2])


def part_doctor():
    """ompp doctor says the same to programs and to people."""
    ompp, program = os.path.join(os.path.dirname(REPORT), 'ompp'), os.path.join(work.name, 'a"b')
    shutil.copy('/bin/true', program)
    done = [subprocess.run([ompp, 'doctor', *words, program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, env=environment())
            for words in ([], ['--json'], ['--color=always'], ['--color=never', '--json'])]
    text, found = done[0].stdout.decode(), json.loads(done[1].stdout)
    check(len({d.returncode for d in done}) == 1 and json.loads(done[3].stdout)['lines'][0] == found['lines'][0], 'doctor: statuses or lines differ')
    check([x['topic'] for x in found['lines']] == re.findall(r'^(?:ok|note|BAD) +(\w+)', text, re.M), 'doctor: other topics')
    check(any(x.get('advice') for x in found['lines']) and re.search(r'^ +-> ', text, re.M), 'doctor: no advice')
    check(found['bad'] == ('BAD' in text) and found['command'] == text.rstrip().split('\n')[-1].strip(), 'doctor: command %s' % found['command'])
    check(program in found['lines'][0]['text'], 'doctor: name is %s' % found['lines'][0])
    plain = re.sub('\033\\[[0-9;]*m', '', done[2].stdout.decode())
    topics = [re.findall(r'^(?:ok|note|BAD) +(\w+)', t, re.M) for t in (plain, text)]
    check(topics[0] == topics[1] and plain != done[2].stdout.decode(), 'doctor: colors')
    wrong = subprocess.run([ompp, 'doctor', '--jsn', program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    check(wrong.returncode == 2 and not wrong.stdout, 'doctor --jsn: %d' % wrong.returncode)


def slow_pipe(stderr):
    """A report that comes slowly. Returns what is shown, and the text."""
    writer = subprocess.Popen(['sh', '-c', 'head -c 3000 "$0"; sleep 1.5; tail -c +3001 "$0"', golden('mpi')], stdout=subprocess.PIPE)
    p = subprocess.Popen([REPORT, '-'], stdin=writer.stdout, stdout=subprocess.PIPE, stderr=stderr, env=environment())
    writer.stdout.close()
    out = p.stdout.read().decode()
    p.wait(timeout=60)
    writer.wait(timeout=60)
    return out, p


def part_progress():
    whole = run(golden('mpi'))[1]
    master, slave = pty.openpty()
    out, _ = slow_pipe(slave)
    os.close(slave)
    shown = os.read(master, 65536).decode()
    os.close(master)
    check(out == whole, 'progress: another report')
    check('\rompp-report: reading standard input: ' in shown and shown.endswith('\r\033[K'), 'progress: shows %r' % shown)
    out, p = slow_pipe(subprocess.PIPE)
    check(out == whole and not p.stderr.read(), 'progress: something in a pipe')


def main():
    parts = {name[5:]: part for name, part in globals().items() if name.startswith('part_')}
    for name in sys.argv[1:] or parts:
        parts[name]()
    print('%d failed' % len(failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
