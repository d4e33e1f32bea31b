//! How a scheme declares its parameters: [`params!`], a documented struct, and [`presets!`].

use super::value::{BytesByRate, NumberByRate, RateValue, TimeByRate, Value};
use xoff_engine::Span;

/// The type that a parameter's value has in a scheme.
pub trait FromValue {
    /// The value must be of the kind that the parameter was declared with.
    fn from_value(value: &Value) -> Self;
}

macro_rules! from_value {
    ($($type:ty: $($variant:ident)|+;)*) => {
        $(impl FromValue for $type {
            fn from_value(value: &Value) -> Self {
                match value {
                    $(Value::$variant(value) => value.clone(),)+
                    other => unreachable!("the kind of a parameter and its type are declared together: {other:?}"),
                }
            }
        })*
    };
}

from_value! {
    Span: Time;
    RateValue: Rate;
    u64: Bytes | Count;
    BytesByRate: BytesByRate;
    TimeByRate: TimeByRate;
    NumberByRate: NumberByRate;
    f64: Number;
    bool: Flag;
}

/// Types of values in a scheme, by kind of parameter.
#[doc(hidden)]
pub mod types {
    pub use crate::param::value::{BytesByRate, NumberByRate, RateValue as Rate, TimeByRate};
    pub use xoff_engine::Span as Time;
    pub type Bytes = u64;
    pub type Number = f64;
    pub type Count = u64;
    pub type Flag = bool;
}

/// A scheme's parameters as one documented struct, from which their table, their types and their choices follow.
///
/// ```
/// use xoff_catalogue::param::{Preset, SchemeSpec, params, presets};
///
/// mod rounding {
///     xoff_catalogue::param::params! {
///         /// What several schemes share.
///         pub struct Params {
///             /// whether rates are whole megabits
///             whole: Flag = "false", from "an assumption";
///         }
///     }
/// }
///
/// params! {
///     pub struct Params {
///         /// period of the receiver's notifications of a flow
///         period "T": Time = "50us", from "paper, section 5.2";
///         /// whether the share must be reached or exceeded
///         rule: Rule { Reached = "reached", Exceeded = "exceeded" } = "reached", from "paper, section 5.2";
///         /// share that makes a flow congested
///         share "95 %": Number(0.0..=1.0) = "0.95" if Rule::Exceeded, from "paper, section 5.2";
///         ..rounding: rounding::Params;
///     }
/// }
///
/// static SPEC: SchemeSpec = SchemeSpec::new("mine", "one line", "where it is from", Params::TABLE, presets! {
///     "paper" from "section 5" {}
///     "hasty" from "an assumption" { period = "10us", rule = "exceeded" }
/// });
/// let params = Params::read(&SPEC.values(SPEC.preset("hasty")));
/// assert_eq!((params.period.as_us(), params.rule, params.share), (10.0, Rule::Exceeded, 0.95));
/// assert_eq!(SPEC.param("share").unwrap().conditions().count(), 1);
/// ```
///
/// A row is the key in a scenario, the paper's symbol, the [`ParamKind`](super::ParamKind) with its bounds (or an enum of
/// choices), the default as a scenario spells it, the choices and flags under which it matters (`if A::B & flag & other = "text"`),
/// and where the value is from;
/// the doc comment is its meaning. Parameters that several schemes share are a struct of their own, named after
/// two dots: in a scenario they are beside the others.
#[macro_export]
macro_rules! params {
    (
        $(#[$meta:meta])*
        $vis:vis struct $Params:ident {
            $(
                $(#[doc = $meaning:literal])+
                $name:ident $($symbol:literal)?: $kind:ident $(($($bounds:tt)*))? $({ $($choices:tt)* })? = $default:literal
                    $(if $($choice:ident$(::$chosen:ident)?$(= $value:literal)?)&+)?, from $source:literal;
            )*
            $(..$part:ident: $($segment:ident)::+ $(if $($outer:ident$(::$picked:ident)?$(= $text:literal)?)&+)?;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        $vis struct $Params {
            $(
                $(#[doc = $meaning])+
                pub(crate) $name: $crate::__param_type!($kind $({ $($choices)* })?),
            )*
            $(
                #[doc = concat!("Those of `", stringify!($($segment)::+), "`, which other schemes have too.")]
                pub $part: $($segment)::+,
            )*
        }

        $($crate::__param_choices! { $vis $name $kind $({ $($choices)* })? })*

        impl $Params {
            const OWN: &[$crate::param::ParamSpec] = &[$(
                $crate::param::ParamSpec {
                    name: stringify!($name),
                    symbol: concat!("" $(, $symbol)?),
                    kind: $crate::__param_kind!($kind $(($($bounds)*))? $({ $($choices)* })?),
                    default: $default,
                    within: &[],
                    applies: &[$($($crate::__param_applies!($choice $($chosen)? $($value)?)),+)?],
                    meaning: concat!($($meaning),+).trim_ascii(),
                    source: $source,
                },
            )*];
            const COUNT: usize = Self::OWN.len() $(+ $($segment)::+::TABLE.len())*;
            /// The table of all of them, as people see it.
            $vis const TABLE: &'static [$crate::param::ParamSpec] = &$crate::param::joined::<{ $Params::COUNT }>(&[
                (Self::OWN, &[]),
                $((
                    $($segment)::+::TABLE,
                    &[$($($crate::__param_applies!($outer $($picked)? $($text)?)),+)?],
                ),)*
            ]);

            /// The values of a scheme that has them all.
            $vis fn read(values: &$crate::param::ParamValues) -> $Params {
                $Params {
                    $($name: $crate::param::FromValue::from_value(values.get(stringify!($name))),)*
                    $($part: $($segment)::+::read(values),)*
                }
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __param_type {
    ($choice:ident { $($choices:tt)* }) => {
        $choice
    };
    ($kind:ident) => {
        $crate::param::types::$kind
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __param_applies {
    ($Choice:ident $chosen:ident) => {
        ($Choice::PARAM, $Choice::$chosen.text())
    };
    ($flag:ident) => {
        (stringify!($flag), "true")
    };
    ($param:ident $value:literal) => {
        (stringify!($param), $value)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __param_kind {
    (Number($min:literal..=$max:expr)) => { $crate::param::ParamKind::Number { min: $min, max: $max } };
    (NumberByRate($min:literal..=$max:expr)) => { $crate::param::ParamKind::NumberByRate { min: $min, max: $max } };
    (Count($min:literal..=$max:expr)) => { $crate::param::ParamKind::Count { min: $min, max: $max } };
    ($choice:ident { $($(#[$meta:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $crate::param::ParamKind::Choice(&[$($text),+])
    };
    ($kind:ident) => { $crate::param::ParamKind::$kind };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __param_choices {
    ($vis:vis $param:ident $Choice:ident { $($(#[$meta:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        #[doc = concat!("The choices of `", stringify!($param), "`.")]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        $vis enum $Choice {
            $(
                $(#[$meta])*
                #[doc = concat!("Spelled `\"", $text, "\"`.")]
                $variant,
            )+
        }

        impl $Choice {
            /// The parameter that it is a choice of.
            $vis const PARAM: &'static str = stringify!($param);

            /// Spelling in a scenario.
            $vis const fn text(self) -> &'static str {
                match self {
                    $($Choice::$variant => $text,)+
                }
            }
        }

        impl std::fmt::Display for $Choice {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.text())
            }
        }

        impl $crate::param::FromValue for $Choice {
            fn from_value(value: &$crate::param::Value) -> $Choice {
                match value {
                    $($crate::param::Value::Choice($text) => $Choice::$variant,)+
                    other => unreachable!("no choice of {}: {other:?}", $Choice::PARAM),
                }
            }
        }
    };
    ($vis:vis $param:ident $kind:ident) => {};
}

/// Presets: name, source and the values that differ from the defaults.
///
/// ```
/// # use xoff_catalogue::param::{Preset, presets};
/// const PRESETS: &[Preset] = presets! {
///     "paper" from "NSDI 2020, simulations" {}
///     "testbed" from "NSDI 2020, testbed" { period = "500us" }
/// };
/// ```
#[macro_export]
macro_rules! presets {
    ($($name:literal from $source:literal { $($param:ident = $value:literal),* $(,)? })+) => {
        &[$($crate::param::Preset {
            name: $name,
            source: $source,
            values: &[$((stringify!($param), $value)),*],
        }),+]
    };
}
