//! Data that a page takes, declared once: a Rust struct that is written as JSON, and the TypeScript interface that reads
//! it, in `web/src/replay/data/contract.ts`.

/// A type as TypeScript has it.
pub trait TypeScript {
    /// The expression of the type, such as `number[]`.
    fn expression() -> String;
}

macro_rules! same {
    ($($type:ty)* => $name:literal) => {
        $(impl TypeScript for $type {
            fn expression() -> String {
                $name.to_owned()
            }
        })*
    };
}

same!(u8 u16 u32 u64 usize f32 f64 => "number");
same!(str String => "string");
same!(bool => "boolean");

impl<T: TypeScript + ?Sized> TypeScript for &T {
    fn expression() -> String {
        T::expression()
    }
}

impl<T: TypeScript> TypeScript for [T] {
    fn expression() -> String {
        let inner = T::expression();
        if inner.contains('|') { format!("({inner})[]") } else { format!("{inner}[]") }
    }
}

impl<T: TypeScript> TypeScript for Vec<T> {
    fn expression() -> String {
        <[T]>::expression()
    }
}

impl<T: TypeScript> TypeScript for Option<T> {
    fn expression() -> String {
        format!("{} | null", T::expression())
    }
}

impl<A: TypeScript, B: TypeScript, C: TypeScript, D: TypeScript> TypeScript for (A, B, C, D) {
    fn expression() -> String {
        format!("[{}, {}, {}, {}]", A::expression(), B::expression(), C::expression(), D::expression())
    }
}

/// A struct that a page reads, under the name that it has there; or words of which a page reads one.
#[macro_export]
macro_rules! contract {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Name:ident { $($Word:ident = $word:literal),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
        $vis enum $Name {
            $(#[serde(rename = $word)] $Word,)+
        }

        impl $crate::contract::TypeScript for $Name {
            fn expression() -> String {
                [$(concat!("\"", $word, "\"")),+].join(" | ")
            }
        }
    };
    (
        $(#[doc = $about:literal])*
        $(#[derive($($derived:ident),*)])?
        $vis:vis struct $Name:ident $(<$life:lifetime>)? as $ts:ident {
            $($(#[doc = $doc:literal])* $(#[serde($($serde:tt)*)])? $field_vis:vis $field:ident: $type:ty,)*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(serde::Serialize $($(, $derived)*)?)]
        $vis struct $Name $(<$life>)? {
            $($(#[doc = $doc])* $(#[serde($($serde)*)])? $field_vis $field: $type,)*
        }

        impl $(<$life>)? $crate::contract::TypeScript for $Name $(<$life>)? {
            fn expression() -> String {
                stringify!($ts).to_owned()
            }
        }

        impl $(<$life>)? $Name $(<$life>)? {
            /// The interface by which a page reads it.
            $vis fn interface() -> String {
                use $crate::contract::TypeScript;
                let fields: &[(&str, &[&str], String)] =
                    &[$((stringify!($field), &[$($doc),*], <$type as TypeScript>::expression())),*];
                $crate::contract::interface(stringify!($ts), &[$($about),*], fields)
            }
        }
    };
}

/// An interface of TypeScript with its comments.
pub fn interface(name: &str, about: &[&str], fields: &[(&str, &[&str], String)]) -> String {
    let comment = |lines: &[&str], indent: &str| {
        let text = lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        if text.is_empty() { text } else { format!("{indent}/** {text} */\n") }
    };
    let field = |(field, doc, kind): &(&str, &[&str], String)| format!("{}  {field}: {kind};\n", comment(doc, "  "));
    let body: String = fields.iter().map(field).collect();
    format!("\n{}export interface {name} {{\n{body}}}\n", comment(about, ""))
}

#[cfg(test)]
mod tests {
    contract! {
        /// Numbers of one thing.
        struct Things<'a> as Thing {
            name: &'a str,
            /// None if it was
            /// not measured.
            value: Vec<Option<f64>>,
            span: (f64, f64, u32, bool),
        }
    }

    #[test]
    fn an_interface_has_what_the_struct_writes() {
        let text = "\n/** Numbers of one thing. */\nexport interface Thing {\n  name: string;\n  \
                    /** None if it was not measured. */\n  value: (number | null)[];\n  \
                    span: [number, number, number, boolean];\n}\n";
        assert_eq!(Things::interface(), text);
        let things = Things { name: "a", value: vec![None, Some(1.5)], span: (0.0, 1.0, 2, true) };
        let json = serde_json::to_string(&things).unwrap();
        assert_eq!(json, "{\"name\":\"a\",\"value\":[null,1.5],\"span\":[0.0,1.0,2,true]}");
    }
}
