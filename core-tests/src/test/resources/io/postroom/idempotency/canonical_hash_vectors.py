#!/usr/bin/env python3
"""Writes canonical_hash_vectors.jsonl beside this file, or the file that is named: what another implementation, Python's own json and email,
makes of requests.

Each line has a name, a content type, a body and what becomes of it:
  same     our hash is sha256: the two implementations agree
  rounded  Python rounds or overflows a fraction; ours keeps the value, its canonical form is exact
  refused  ours refuses it, with the code; python tells what Python would have made of it
  request  the same with a method, a target and perhaps a principal: the hash of the whole request
"""
import base64
import email.parser
import email.policy
import hashlib
import json
import os
import random
import sys
from decimal import Decimal

JSON = 'application/json'


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(',', ':'))


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def line(name, content_type, body, **rest):
    data = body.encode('utf-8') if isinstance(body, str) else body
    return {'name': name, 'type': content_type, 'body': base64.b64encode(data).decode(), **rest}


def same(name, body, content_type=JSON):
    text = canonical(json.loads(body))
    return line(name, content_type, body, outcome='same', canonical=text, sha256=sha256(text.encode()))


def rounded(name, body, exact):
    text = canonical(json.loads(body))
    assert text != exact
    return line(name, JSON, body, outcome='rounded', canonical=exact, sha256=sha256(exact.encode()), python=text)


def refused(name, body, code, content_type=JSON):
    try:
        python = canonical(json.loads(body))[:100]
    except (ValueError, RecursionError) as e:
        python = type(e).__name__
    return line(name, content_type, body, outcome='refused', code=code, python=python)


def raw(name, content_type, body):
    media = (content_type or '').split(';')[0].strip().lower()
    return line(name, content_type, body, outcome='same', sha256=sha256(media.encode() + b'\n' + body))


def file_part(filename, content, media=''):
    return {'filename': filename, 'sha256': sha256(content), 'type': media}


def parts_of(content_type, body):
    """The parts as Python's own parser finds them."""
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(
        b'Content-Type: ' + content_type.encode() + b'\r\n\r\n' + body)
    found = {}
    for part in message.iter_parts():
        content = part.get_payload(decode=True)
        filename = part.get_filename()
        if filename is None:
            try:
                value = content.decode('utf-8')
            except UnicodeDecodeError:
                value = file_part('', content)
        else:
            value = file_part(filename, content, part.get_content_type())
        found.setdefault(part.get_param('name', header='content-disposition'), []).append(value)
    return found


def multipart(name, content_type, body, parts):
    if parts:
        # What is expected here is what Python finds, too; it takes a form without parts for no form.
        assert parts_of(content_type, body) == parts, (name, parts_of(content_type, body))
    text = canonical(parts)
    media = content_type.split(';')[0].strip().lower()
    return line(name, content_type, body, outcome='same', canonical=text, sha256=sha256((media + '\n' + text).encode()))


def form(boundary, *parts):
    body = b''
    for headers, content in parts:
        body += b'--' + boundary + b'\r\n' + b'\r\n'.join(headers) + b'\r\n\r\n' + content + b'\r\n'
    return body + b'--' + boundary + b'--\r\n'


SAME = [
    # Order and whitespace.
    ('empty object', '{}'),
    ('empty array', '[]'),
    ('spaces in an empty object', ' { \n\t\r } '),
    ('sorted already', '{"a":1,"b":2}'),
    ('not sorted', '{"b":2,"a":1}'),
    ('whitespace everywhere', ' {\n\t"b" : [ 1 ,\r\n 2 ] ,\n "a" : null } '),
    ('nested objects', '{"z":{"y":{"x":1,"w":2}},"a":{"c":1,"b":[{"e":1,"d":2}]}}'),
    ('arrays keep their order', '[3,1,2,{"b":1,"a":2}]'),
    ('upper case before lower case', '{"a":1,"B":2,"_":3,"A":4,"b":5}'),
    ('a prefix comes first', '{"ab":1,"a":2,"abc":3,"":4}'),
    ('digits as keys', '{"10":1,"9":2,"1":3}'),
    ('an order', '{"order_id": 71001, "customer": "C-7", "amount": "19.99", "lines": [{"sku": "A", "qty": 2}]}'),
    # Scalars.
    ('null', 'null'), ('true', 'true'), ('false', ' false '), ('text', '"text"'), ('empty text', '""'),
    ('literals in an array', '[true,false,null]'),
    # Text.
    ('escapes that have short forms', r'"\"\\\/\b\f\n\r\t"'),
    ('the same by number', r'"\u0022\u005c\u002f\u0008\u000c\u000a\u000d\u0009"'),
    ('other controls', r'"\u0000\u0001\u001f\u007f\u0080"'),
    ('delete is escaped', '"\x7f"'),
    ('upper case hexadecimal', r'"\u00E9\u20AC"'),
    ('letters written out', '"é€ß"'),
    ('letters that need no escape, escaped', r'"\u0041\u0062\u0020\u007e"'),
    ('line separators', '"\u2028\u2029\ufeff"'),
    ('composed and decomposed stay two', '["é","e\u0301"]'),
    ('beyond the first plane', '"😀𝄞"'),
    ('beyond the first plane, escaped', r'"\ud83d\ude00\uD834\uDD1E"'),
    ('arabic, thai, korean', '{"س":"ก","한":"中"}'),
    ('escaped and written keys are sorted alike', r'{"\u0062":1,"a":2}'),
    ('keys by code point, not by UTF-16 unit', '{"😀":1,"\uff5e":2,"a":3}'),
    ('private use before the second plane', '{"\U00010000":1,"\ue000":2,"\uffff":3}'),
    ('key with escapes', r'{"a\"b":1,"a\nb":2,"a\\b":3}'),
    ('U+0000 as a key', r'{"\u0000":1,"":2}'),
    ('a byte order mark', '\ufeff{"a":1}'.encode('utf-8')),
    # Numbers.
    ('integers', '[0,1,-1,10,123456789]'),
    ('negative zero as an integer', '-0'),
    ('beyond 64 bits', '[9223372036854775808,-9223372036854775809,18446744073709551616]'),
    ('an integer of a hundred digits', '9' * 100),
    ('beyond what a double counts', '9007199254740993'),
    ('fractions', '[0.5,1.5,-2.25,19.99,0.1]'),
    ('a whole fraction stays one', '[1.0,100.0,-3.0]'),
    ('one and one point zero stay two', '[1,1.0]'),
    ('trailing zeros', '[1.50,0.500,100.000]'),
    ('zeros', '[0.0,-0.0,0.000,0e0,0E5,-0e-5]'),
    ('exponents', '[1e2,1E2,1e+2,1.5e3,12e-1,1e0]'),
    ('small', '[0.0001,0.00001,1e-4,1e-5,1.5e-7,0.00012345]'),
    ('large', '[1e15,1e16,1e17,123456789012345.0,1234567890123456.0,12345678901234567000.0]'),
    ('at the edge of the plain form', '[9999999999999998.0,1e16,9.999e15,99990000000000000.0]'),
    ('leading zeros of an exponent', '[1e007,1e-007,1e+00]'),
    ('as JavaScript writes them', '[1e+21,1.5e-7,0.000001,123456789012345680000]'),
    ('seventeen digits', '[0.30000000000000004,0.1234567890123456,3.141592653589793,2.220446049250313e-16]'),
    ('the greatest and the least double', '[1.7976931348623157e308,2.2250738585072014e-308,5e-324]'),
    ('powers of two', '[' + ','.join(repr(2.0 ** n) for n in range(-60, 80, 7)) + ']'),
    ('as Java 17 writes them', '[1.0E10,1.234E-5,1.0E-10]'),
    # Shape.
    ('a hundred levels', '[' * 100 + ']' * 100),
    ('fifty levels of objects', '{"a":' * 50 + '1' + '}' * 50),
    ('many keys', '{' + ','.join('"k%d":%d' % (n * 7919 % 500, n) for n in range(500)) + '}'),
]

ROUNDED = [
    ('more digits than a double has', '12345678901234567.1', '1.23456789012345671e+16'),
    ('its neighbour, another amount', '12345678901234567.2', '1.23456789012345672e+16'),
    ('too large for a double', '1E400', '1e+400'),
    ('another that is', '1E401', '1e+401'),
    ('too small for a double', '1e-400', '1e-400'),
    ('twenty digits', '0.12345678901234567890', '0.1234567890123456789'),
]

REFUSED = [
    ('the same key twice', '{"a":1,"a":1}', 'idempotency.body-repeats-key'),
    ('the same key twice, once escaped', r'{"a":1,"\u0061":2}', 'idempotency.body-repeats-key'),
    ('the same key twice, deep inside', '[{"b":{"a":1,"c":2,"a":3}}]', 'idempotency.body-repeats-key'),
    ('only whitespace', ' \n', 'idempotency.body-not-json'),
    ('two values', '{} {}', 'idempotency.body-not-json'),
    ('no closing brace', '{"a":1', 'idempotency.body-not-json'),
    ('a trailing comma', '[1,]', 'idempotency.body-not-json'),
    ('single quotes', "{'a':1}", 'idempotency.body-not-json'),
    ('a comment', '{} // done', 'idempotency.body-not-json'),
    ('not a number', 'NaN', 'idempotency.body-not-json'),
    ('infinity', '[Infinity,-Infinity]', 'idempotency.body-not-json'),
    ('a leading zero', '01', 'idempotency.body-not-json'),
    ('a plus', '+1', 'idempotency.body-not-json'),
    ('nothing after the point', '1.', 'idempotency.body-not-json'),
    ('nothing before the point', '.5', 'idempotency.body-not-json'),
    ('a raw line break in text', '"a\nb"', 'idempotency.body-not-json'),
    ('an unknown escape', r'"\x41"', 'idempotency.body-not-json'),
    ('not UTF-8', b'"\xff"', 'idempotency.body-not-unicode'),
    ('a surrogate in UTF-8', b'"\xed\xa0\x80"', 'idempotency.body-not-unicode'),
    ('an overlong form', b'"\xc0\xaf"', 'idempotency.body-not-unicode'),
    ('UTF-16', '{"a":1}'.encode('utf-16'), 'idempotency.body-not-unicode'),
    ('half a pair, escaped', r'"\ud83d"', 'idempotency.body-not-unicode'),
    ('the other half', r'"\ude00"', 'idempotency.body-not-unicode'),
    ('halves the wrong way round', r'"\ude00\ud83d"', 'idempotency.body-not-unicode'),
    ('half a pair before text', r'"\ud83dx"', 'idempotency.body-not-unicode'),
    ('half a pair as a key', r'{"\ud83d":1,"\uff5e":2}', 'idempotency.body-not-json'),
    ('a hundred and one levels', '[' * 101 + ']' * 101, 'idempotency.body-too-deep'),
    ('a thousand and one digits', '1' * 1001, 'idempotency.body-number-too-long'),
    ('an exponent of ten digits', '1e1000000000', 'idempotency.body-number-too-long'),
]


def multiparts():
    field = [b'Content-Disposition: form-data; name="title"']
    receipt = [b'Content-Disposition: form-data; name="receipt"; filename="r.pdf"', b'Content-Type: application/pdf']
    pdf = b'%PDF-1.7\r\n\xff\x00\r\n--not the boundary\r\n'
    expected = {'title': ['lunch é'], 'receipt': [file_part('r.pdf', pdf, 'application/pdf')]}
    text = 'lunch é'.encode()
    first = form(b'one', (field, text), (receipt, pdf))
    other = form(b'two', (receipt, pdf), (field, text))
    yield multipart('a form with a file', 'multipart/form-data; boundary=one', first, expected)
    yield multipart('the same, other boundary and order', 'Multipart/Form-Data; boundary="two"', other, expected)
    tag = [b'content-disposition: form-data; name=tag']
    tags = form(b'b', (tag, b'x'), (tag, b'y'))
    yield multipart('a name twice keeps its order', 'multipart/form-data; boundary=b', tags, {'tag': ['x', 'y']})
    binary = form(b'b', (tag, b'\xff\xfe'))
    yield multipart('a field that is not text', 'multipart/form-data; boundary=b', binary,
                    {'tag': [file_part('', b'\xff\xfe')]})
    yield multipart('no parts', 'multipart/form-data; boundary=b', b'--b--\r\n', {})
    yield multipart('a preamble and an epilogue', 'multipart/mixed; boundary=b',
                    b'hello\r\n' + form(b'b', (tag, b'')) + b'bye', {'tag': ['']})
    code = 'idempotency.body-not-multipart'
    yield line('no boundary', 'multipart/form-data', first, outcome='refused', code=code)
    yield line('no end', 'multipart/form-data; boundary=one', first[:-9], outcome='refused', code=code)
    yield line('other boundary', 'multipart/form-data; boundary=three', first, outcome='refused', code=code)


def others():
    yield raw('form fields as they are', 'application/x-www-form-urlencoded', b'b=2&a=1')
    yield raw('text, with parameters', 'Text/Plain; charset=utf-8', 'é'.encode())
    yield raw('bytes', 'application/octet-stream', bytes(range(256)))
    yield raw('no media type', None, b'{"a":1}')
    yield raw('nothing at all', None, b'')
    yield raw('JSON without a body', 'application/json', b'')
    yield same('a JSON of its own type', '{"b":1,"a":2}', 'application/vnd.shop.order+json; charset=utf-8')
    yield same('upper case', '{"b":1,"a":2}', 'APPLICATION/JSON')


def request(name, method, target, principal, body=b'{"a":1}'):
    parts = [method, target, sha256(canonical(json.loads(body)).encode())] + ([principal] if principal else [])
    return line(name, JSON, body, outcome='request', method=method, target=target, principal=principal,
                sha256=sha256(canonical(parts).encode()))


def requests():
    yield request('a request', 'POST', '/orders?dry=1', '')
    yield request('of a member', 'POST', '/orders?dry=1', 'anna')
    yield request('of another', 'POST', '/orders?dry=1', 'bért "the" \\ 😀')
    yield request('of nobody, whose target says so', 'POST', '/orders?dry=1","anna', '')
    yield request('with another method', 'PUT', '/orders/ü%20', 'anna', b'{"b": 2, "a": [1.0]}')


def written(rng, value, depth=0):
    """A value as some client might write it: any order, whitespace and escapes."""
    space = rng.choice(['', '', ' ', '\n\t'])
    if isinstance(value, dict):
        items = list(value.items())
        rng.shuffle(items)
        return '{' + space + (',' + space).join(
            written(rng, k, depth + 1) + space + ':' + space + written(rng, v, depth + 1) for k, v in items) + '}'
    if isinstance(value, list):
        return '[' + (space + ',' + space).join(written(rng, v, depth + 1) for v in value) + space + ']'
    if isinstance(value, float) and rng.random() < 0.3:
        return ('%.16e' % value) if repr(value) == repr(float('%.14e' % value)) else repr(value)
    return json.dumps(value, ensure_ascii=rng.random() < 0.5)


ALPHABET = 'abzAZ09_ "\\/\b\n\x00\x1f\x7f\x80éß€\u2028\ue000\uff5e\uffff😀𝄞\U0010ffff'


def random_value(rng, depth):
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.choice([0, -1, rng.randrange(-10 ** 6, 10 ** 6), rng.randrange(10 ** 30)])
    if kind == 2:
        return round(rng.uniform(-1e4, 1e4), rng.randrange(6))
    if kind == 3:
        return float(Decimal(rng.randrange(1, 10 ** 15)).scaleb(rng.randrange(-40, 40)))
    if kind in (4, 5):
        return ''.join(rng.choice(ALPHABET) for _ in range(rng.randrange(8)))
    if kind == 6:
        return [random_value(rng, depth + 1) for _ in range(rng.randrange(5))]
    return {''.join(rng.choice(ALPHABET) for _ in range(rng.randrange(4))): random_value(rng, depth + 1)
            for _ in range(rng.randrange(6))}


def exact_enough(body):
    """Whether no fraction in it has more digits than Python keeps."""
    texts = []
    json.loads(body, parse_float=lambda text: texts.append(text) or 0.0)
    return all(Decimal(text) == Decimal(repr(float(text))) for text in texts)


def randoms(count):
    rng = random.Random(4)
    made = 0
    while made < count:
        value = random_value(rng, 0)
        body = written(rng, value)
        if exact_enough(body):
            yield same('random %d' % made, body)
            made += 1


def main():
    lines = [same(*each) for each in SAME]
    lines += [rounded(*each) for each in ROUNDED]
    lines += [refused(*each) for each in REFUSED]
    lines += list(multiparts()) + list(others()) + list(randoms(200)) + list(requests())
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'canonical_hash_vectors.jsonl')
    target = sys.argv[1] if len(sys.argv) > 1 else beside
    with open(target, 'w', encoding='ascii') as out:
        for each in lines:
            out.write(json.dumps(each) + '\n')
    print('%d vectors' % len(lines))


if __name__ == '__main__':
    main()
