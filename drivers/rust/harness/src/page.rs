//! Checks that a page shows only code that a test compiles.

/// Returns the first code of a page that is not in the source of a test, ignoring white space: a code block in this
/// language, or code in the first column of a table "what you write today".
pub fn check(page: &str, language: &str, source: &str) -> Result<(), String> {
    let source = without_space(source);
    let mut shown = blocks(page, language);
    shown.extend(first_columns(page));
    if shown.len() < 10 {
        return Err(format!("the page shows {} pieces of code", shown.len()));
    }
    match shown
        .iter()
        .find(|code| !source.contains(&without_space(code)))
    {
        Some(code) => Err(format!("no test compiles this code:\n{code}")),
        None => Ok(()),
    }
}

fn without_space(text: &str) -> String {
    text.split_whitespace().collect()
}

fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let after_fences = page.split(fence.as_str()).skip(1);
    after_fences
        .filter_map(|rest| rest.split("```").next())
        .map(str::to_owned)
        .collect()
}

fn first_columns(page: &str) -> Vec<String> {
    let mut codes = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        inside = line.starts_with("| what you write today") || (inside && line.starts_with('|'));
        let cell = line.split('|').nth(1).filter(|_| inside);
        let spans = cell
            .into_iter()
            .flat_map(|cell| cell.split('`').skip(1).step_by(2));
        codes.extend(spans.map(str::to_owned));
    }
    codes
}
