//! Reports as self-contained HTML files that are readable on a phone and in light and dark mode.

use crate::palette::page_variables;
use crate::xml::escape;

/// A report, to be formatted as HTML.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The heading of the report.
    pub title: String,
    /// The introductory paragraphs below the heading.
    pub lead: Vec<String>,
    /// The sections.
    pub sections: Vec<Section>,
    /// Lines that name the source of the data.
    pub footer: Vec<String>,
}

/// A section of a report.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The heading of the section.
    pub title: String,
    /// The text, one entry per paragraph.
    pub text: Vec<String>,
    /// Links to other pages, as (name, URL) pairs.
    pub links: Vec<(String, String)>,
    /// The drawings.
    pub drawings: Vec<Drawing>,
    /// The table, if the section has one.
    pub table: Option<SectionTable>,
    /// True if the section is initially collapsed.
    pub folded: bool,
}

/// A drawing in a section, with its caption.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The contents of the SVG file.
    pub svg: String,
    /// The text below the drawing.
    pub caption: String,
}

/// A table in a section.
#[derive(Clone, Debug, Default)]
pub struct SectionTable {
    /// The column headers.
    pub header: Vec<String>,
    /// The cells, row by row.
    pub rows: Vec<Vec<String>>,
    /// The number of leading columns that contain text.
    pub words: usize,
}

/// Formats a page as HTML.
pub fn html(page: &Page) -> String {
    let mut body = format!("<h1>{}</h1>\n", escape(&page.title));
    for paragraph in &page.lead {
        body += &format!("<p>{}</p>\n", escape(paragraph));
    }
    for one in &page.sections {
        body += &section(one);
    }
    let lines: Vec<String> = page.footer.iter().map(|line| escape(line).into_owned()).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n\
         <style>\n{}{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n<footer>{}</footer>\n\
         </body>\n</html>\n",
        escape(&page.title),
        page_variables(),
        lines.join("<br>\n")
    )
}

fn section(section: &Section) -> String {
    let mut body = String::new();
    for paragraph in &section.text {
        body += &format!("<p>{}</p>\n", escape(paragraph));
    }
    for (name, place) in &section.links {
        body += &format!("<p><a href=\"{}\">{}</a></p>\n", escape(place), escape(name));
    }
    if !section.drawings.is_empty() {
        body += "<div class=\"figures\">\n";
        for drawing in &section.drawings {
            body += "<figure>\n";
            body += &drawing.svg;
            if !drawing.caption.is_empty() {
                body += &format!("<figcaption>{}</figcaption>\n", escape(&drawing.caption));
            }
            body += "</figure>\n";
        }
        body += "</div>\n";
    }
    if let Some(one) = &section.table {
        body += &table(one);
    }
    let title = escape(&section.title);
    if section.folded {
        format!("<details>\n<summary><h2>{title}</h2></summary>\n{body}</details>\n")
    } else {
        format!("<section>\n<h2>{title}</h2>\n{body}</section>\n")
    }
}

fn table(table: &SectionTable) -> String {
    let numbers = |column: usize| {
        table.rows.iter().all(|row| row.get(column).is_none_or(|cell| is_number(cell)))
    };
    let numbers: Vec<bool> = (0..table.header.len()).map(numbers).collect();
    let class =
        |column: usize| if numbers.get(column) == Some(&true) { " class=\"n\"" } else { "" };
    let mut text = String::from("<div class=\"wide\"><table>\n<thead><tr>");
    for (column, name) in table.header.iter().enumerate() {
        text += &format!("<th{}>{}</th>", class(column), escape(name));
    }
    text += "</tr></thead>\n<tbody>\n";
    for row in &table.rows {
        text += "<tr>";
        for (column, cell) in row.iter().enumerate() {
            let verdict = match cell.as_str() {
                "holds" => " class=\"holds\"",
                "differs" => " class=\"differs\"",
                // This class keeps counts such as "6 of 36 hold" from wrapping on a phone.
                count if count.ends_with(" hold") => " class=\"tally\"",
                _ => class(column),
            };
            text += &format!("<td{verdict}>{}</td>", escape(cell));
        }
        text += "</tr>\n";
    }
    text + "</tbody>\n</table></div>\n"
}

/// Returns true if a cell is empty or contains a number, with or without an interval. "18 hold"
/// counts as text. A leading `~`, which marks a difference that is not significant, is ignored.
fn is_number(cell: &str) -> bool {
    let cell = cell.strip_prefix('~').unwrap_or(cell);
    let mut words = cell.strip_prefix('-').unwrap_or(cell).split(' ');
    let first = words.next().unwrap_or_default().trim_end_matches('%');
    (first.is_empty() || first.parse::<f64>().is_ok())
        && words.all(|word| !word.contains(char::is_alphabetic))
}

const STYLE: &str = "\
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--text);font:16px/1.5 \
system-ui,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif}
main,footer{max-width:1240px;margin:0 auto;padding:0 16px}
h1{font-size:1.6rem;line-height:1.25;margin:1.2em 0 .4em}
h2{font-size:1.2rem;margin:1.6em 0 .5em}
p{max-width:46em;margin:.5em 0}
a{color:var(--link)}
summary{cursor:pointer}summary h2{display:inline-block;margin:.8em 0}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,480px),1fr));gap:20px}
figure{margin:0;min-width:0}figure svg{display:block;width:100%;height:auto;\
border:1px solid var(--line);border-radius:6px}
figcaption{color:var(--faint);font-size:.85rem;padding:4px 2px}
.figures+.wide{margin-top:16px}\
.wide{overflow-x:auto;-webkit-overflow-scrolling:touch;\
border:1px solid var(--line);border-radius:6px}
table{border-collapse:collapse;font-size:.88rem;font-variant-numeric:tabular-nums;min-width:100%}
th,td{text-align:left;padding:5px 10px;vertical-align:top}
th{border-bottom:1px solid var(--line);white-space:nowrap;color:var(--faint);font-weight:600}
@media (max-width:480px){th,td{padding:5px 6px}th{white-space:normal}}
tbody tr:nth-child(even){background:var(--band)}
td:first-child:not(:last-child){white-space:nowrap}
td:nth-child(n+4):last-child:not(.n){min-width:min(18em,48vw)}
.n{text-align:right;white-space:nowrap}.tally{white-space:nowrap}
.holds{color:var(--good);font-weight:600}.differs{color:var(--bad);font-weight:600}
footer{color:var(--faint);font-size:.85rem;border-top:1px solid var(--line);margin-top:2.5em;\
padding-top:12px;padding-bottom:32px;overflow-wrap:anywhere}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_from_words() {
        for cell in ["", "-3", "1.229 ± 0.048", "12%", "~-0.2 ± 0.4", "+1", "-"] {
            assert!(is_number(cell), "{cell}");
        }
        for cell in ["18 hold, 10 within tolerance", "13 hold", "mesh:8x8", "met"] {
            assert!(!is_number(cell), "{cell}");
        }
    }
}
