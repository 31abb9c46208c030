//! The rules of the Bot API's page "Formatting options", HTML style.

use super::super::{Dialect, write};

fn html(markdown: &str) -> String {
    write(markdown, Dialect::Html).text
}

#[test]
fn what_may_not_be_nested_is_not() {
    for (markdown, expected) in [
        ("**a `b` c**", "<b>a </b><code>b</code><b> c</b>"),
        ("[`a`](https://b)", "<a href=\"https://b\">a</a>"),
        ("[**a**](https://b)", "<b><a href=\"https://b\">a</a></b>"),
        ("# **a** b", "<b>a b</b>"),
        (
            "> a\n> > b\n> > c",
            "<blockquote>a\n\n&gt; b\n&gt; c</blockquote>",
        ),
        (
            "- > a\n- ```\n  b\n  ```",
            "•\n<blockquote>a</blockquote>\n•\n<pre>b</pre>",
        ),
    ] {
        assert_eq!(html(markdown), expected, "{markdown}");
    }
}

#[test]
fn everything_else_is_escaped() {
    assert_eq!(
        html("<script>\"&amp;\""),
        "&lt;script&gt;&quot;&amp;amp;&quot;"
    );
    assert_eq!(html("`<\"&>`"), "<code>&lt;&quot;&amp;&gt;</code>");
    assert_eq!(
        html(r#"[a](<https://b/"\>\<i\>&amp;c>)"#),
        "<a href=\"https://b/%22%3E%3Ci%3E&amp;c\">a</a>"
    );
}
