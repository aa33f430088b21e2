//! Formulas in text form, with numbers, names, `+ - * / ^`, parentheses, `sqrt` and `log2`.
//!
//! `^` is right-associative and binds most tightly, followed by `* /` and then `+ -`. Formulas are
//! evaluated with `libm`, so that results are identical, bit for bit, on every processor.

use std::str::FromStr;

use pavior_kernel::BadName;

/// A parsed formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula(Term);

#[derive(Clone, Debug, PartialEq)]
enum Term {
    Number(f64),
    Name(String),
    Call(Function, Box<Term>),
    Pair(Box<Term>, char, Box<Term>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Function {
    Sqrt,
    Log2,
}

/// The maximum nesting depth of parentheses and exponents.
const DEEPEST: u32 = 64;

impl Formula {
    /// Evaluates the formula with the given values for its names.
    ///
    /// # Errors
    /// Returns the first name that has no value.
    ///
    /// ```
    /// # mod pavior { pub use pavior_experiments as experiments; }
    /// use pavior::experiments::Formula;
    /// let order: Formula = "sqrt(K) * B".parse().unwrap();
    /// let value =
    ///     order.value(&|name| match name { "K" => Some(4.0), "B" => Some(3.0), _ => None });
    /// assert_eq!(value, Ok(6.0));
    /// ```
    pub fn value(&self, names: &dyn Fn(&str) -> Option<f64>) -> Result<f64, String> {
        self.0.value(names)
    }

    /// Returns the names in the formula.
    pub fn names(&self) -> Vec<&str> {
        let mut all = Vec::new();
        self.0.names(&mut all);
        all
    }
}

impl Term {
    fn value(&self, names: &dyn Fn(&str) -> Option<f64>) -> Result<f64, String> {
        Ok(match self {
            Term::Number(value) => *value,
            Term::Name(name) => names(name).ok_or_else(|| name.clone())?,
            Term::Call(Function::Sqrt, of) => libm::sqrt(of.value(names)?),
            Term::Call(Function::Log2, of) => libm::log2(of.value(names)?),
            Term::Pair(left, operator, right) => {
                let (left, right) = (left.value(names)?, right.value(names)?);
                match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    '/' => left / right,
                    _ => libm::pow(left, right),
                }
            }
        })
    }

    fn names<'t>(&'t self, all: &mut Vec<&'t str>) {
        match self {
            Term::Number(_) => {}
            Term::Name(name) => all.push(name),
            Term::Call(_, of) => of.names(all),
            Term::Pair(left, _, right) => {
                left.names(all);
                right.names(all);
            }
        }
    }
}

impl FromStr for Formula {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Formula, BadName> {
        let mut reader = Reader { text, at: 0, depth: 0 };
        let term = reader.sum()?;
        match reader.peek() {
            None => Ok(Formula(term)),
            Some(_) => Err(reader.bad("expected an operator (+, -, *, / or ^)")),
        }
    }
}

/// A parser that reads a formula from left to right.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: u32,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let found = self.peek().filter(|found| wanted.contains(found))?;
        self.at += found.len_utf8();
        Some(found)
    }

    fn bad(&self, reason: &str) -> BadName {
        let end = self.text[self.at..].chars().next().map_or(self.at, |c| self.at + c.len_utf8());
        BadName { reason: format!("`{}`: {reason}", self.text), span: self.at..end }
    }

    fn sum(&mut self) -> Result<Term, BadName> {
        let mut left = self.product()?;
        while let Some(operator) = self.take(&['+', '-']) {
            left = Term::Pair(Box::new(left), operator, Box::new(self.product()?));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Term, BadName> {
        let mut left = self.power()?;
        while let Some(operator) = self.take(&['*', '/']) {
            left = Term::Pair(Box::new(left), operator, Box::new(self.power()?));
        }
        Ok(left)
    }

    fn power(&mut self) -> Result<Term, BadName> {
        let base = self.single()?;
        if self.take(&['^']).is_none() {
            return Ok(base);
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.bad("nested too deeply"));
        }
        let exponent = self.power()?;
        self.depth -= 1;
        Ok(Term::Pair(Box::new(base), '^', Box::new(exponent)))
    }

    fn single(&mut self) -> Result<Term, BadName> {
        let start = match self.peek() {
            Some('(') => return self.brackets(),
            Some(_) => self.at,
            None => return Err(self.bad("unexpected end of the formula")),
        };
        let part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
        let rest = &self.text[start..];
        let word = &rest[..rest.find(|c| !part(c)).unwrap_or(rest.len())];
        if word.is_empty() {
            return Err(self.bad("expected a number, a name or an opening parenthesis"));
        }
        self.at += word.len();
        if word.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            let number = word.parse().map_err(|_| BadName {
                reason: format!("`{}`: `{word}` is not a number", self.text),
                span: start..start + word.len(),
            })?;
            return Ok(Term::Number(number));
        }
        let function = match word {
            "sqrt" => Function::Sqrt,
            "log2" => Function::Log2,
            name => return Ok(Term::Name(name.to_string())),
        };
        match self.peek() {
            Some('(') => Ok(Term::Call(function, Box::new(self.brackets()?))),
            _ => Err(self.bad("expected a parenthesis")),
        }
    }

    fn brackets(&mut self) -> Result<Term, BadName> {
        self.at += 1;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.bad("nested too deeply"));
        }
        let inner = self.sum()?;
        self.depth -= 1;
        self.take(&[')']).map(|_| inner).ok_or_else(|| self.bad("missing closing parenthesis"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<f64> {
        let formula: Formula = text.parse().unwrap();
        formula.value(&|name| (name == "B").then_some(3.0)).ok()
    }

    #[test]
    fn operators_bind_as_in_arithmetic() {
        assert_eq!(value("2 + (2 + 4 * sqrt(4)) * B - B^2"), Some(2.0 + 30.0 - 9.0));
        assert_eq!(value("8 / 4 / 2 - 1 - 1"), Some(-1.0));
        assert_eq!(value("2 ^ B ^ 2"), Some(512.0));
        assert_eq!(value("log2(sqrt(64))"), Some(3.0));
    }

    #[test]
    fn faults_have_a_place() {
        for (text, place) in
            [("2 +", 3), ("2 3", 2), ("(2", 2), ("sqrt 4", 5), ("1.2.3", 0), ("2 ? 3", 2), ("", 0)]
        {
            assert_eq!(text.parse::<Formula>().unwrap_err().span.start, place, "{text}");
        }
        assert!("(".repeat(1000).parse::<Formula>().is_err());
        assert!("2^".repeat(1000).parse::<Formula>().is_err());
        let formula: Formula = "B * C".parse().unwrap();
        assert_eq!(formula.value(&|_| None), Err("B".to_string()));
        assert_eq!(formula.names(), ["B", "C"]);
    }
}
