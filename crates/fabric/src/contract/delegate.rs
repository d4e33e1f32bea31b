//! Delegation: a wrapper takes the methods of a trait from the trait's declaration.
//!
//! `delegable!` declares a trait of the contract and a macro `delegate_…!`, which writes all methods of that trait
//! into an `impl` for a wrapper: a box, or an enum over implementations. A new hook is added to the declaration of its
//! trait alone. No wrapper can lack it or call another hook in its place. The wrapper states for each pattern of
//! `self` the place to call:
//!
//! ```ignore
//! impl ReactionPoint for Either {
//!     type Feedback = ();
//!     delegate_reaction_point! { #[inline] self { Either::Left(rp) => *rp; Either::Right(rp) => **rp; } }
//! }
//! ```
//!
//! Methods with `#[inline]` in the declaration get the attribute of the invocation, others get none.
//!
//! Where implementations differ in the type of their feedback, `in AnyFeedback::Left` after the place names the variant
//! that holds it. The arguments `feedback` and `message` are then unwrapped, the callbacks `notify` and `send` wrap
//! their argument, and results of an associated type are wrapped in the variant of the same name.

/// Declares a trait, and the macro `$delegate` that writes its methods. `$dollar` is a dollar sign.
macro_rules! delegable {
    ($dollar:tt $delegate:ident
     $(#[$about:meta])* pub trait $trait:ident $(: $super:ident $(+ $other:ident)*)? { $($items:tt)* }) => {
        $(#[$about])*
        #[allow(
            unused_variables,
            unused_attributes,
            clippy::inline_fn_without_body,
            reason = "names and `#[inline]` are for wrappers"
        )]
        pub trait $trait $(: $super $(+ $other)*)? { $($items)* }

        #[doc = concat!("Writes the methods of `", stringify!($trait), "` into an `impl` for a wrapper.")]
        #[macro_export]
        macro_rules! $delegate {
            ($dollar(#[$dollar inline:meta])? $dollar self:ident $dollar arms:tt) => {
                $crate::delegate! {
                    ($trait ($dollar($dollar inline)?) $dollar self $dollar arms) $($items)*
                }
            };
        }
    };
}
pub(crate) use delegable;

/// Writes the methods of a trait for a wrapper: see the module's page.
#[doc(hidden)]
#[macro_export]
macro_rules! delegate {
    // The items of a trait, one after the other. The wrapper has associated types of its own.
    ($to:tt) => {};
    ($to:tt $(#[doc = $doc:literal])*
     type $name:ident: $bound:ident $(<Feedback = Self::Feedback>)? $(+ $other:ident)*; $($rest:tt)*) => {
        $crate::delegate! { $to $($rest)* }
    };
    (($trait:ident $inline:tt $self:ident $arms:tt) $(#[doc = $doc:literal])* #[inline] fn $($rest:tt)*) => {
        $crate::delegate! { @returns ($trait $inline $self $arms) $inline $($rest)* }
    };
    ($to:tt $(#[doc = $doc:literal])* fn $($rest:tt)*) => {
        $crate::delegate! { @returns $to () $($rest)* }
    };

    // What a method returns, and how it is wrapped; then the items that follow.
    (@returns $to:tt $inline:tt $method:ident $args:tt -> Option<Self::$of:ident> $body:tt $($rest:tt)*) => {
        $crate::delegate! { @method $to $inline $method $args [-> Option<Self::$of>] [Option $of] }
        $crate::delegate! { $to $($rest)* }
    };
    (@returns $to:tt $inline:tt $method:ident $args:tt -> Self::$of:ident $body:tt $($rest:tt)*) => {
        $crate::delegate! { @method $to $inline $method $args [-> Self::$of] [$of] }
        $crate::delegate! { $to $($rest)* }
    };
    (@returns $to:tt $inline:tt $method:ident $args:tt -> $type:ty; $($rest:tt)*) => {
        $crate::delegate! { @method $to $inline $method $args [-> $type] [] }
        $crate::delegate! { $to $($rest)* }
    };
    (@returns $to:tt $inline:tt $method:ident $args:tt -> $type:ty { $($body:tt)* } $($rest:tt)*) => {
        $crate::delegate! { @method $to $inline $method $args [-> $type] [] }
        $crate::delegate! { $to $($rest)* }
    };
    (@returns $to:tt $inline:tt $method:ident $args:tt { $($body:tt)* } $($rest:tt)*) => {
        $crate::delegate! { @method $to $inline $method $args [] [] }
        $crate::delegate! { $to $($rest)* }
    };

    (@method ($trait:ident $hint:tt $self:ident $arms:tt) ($($inline:meta)?)
     $method:ident (&self $(, $arg:ident: $type:ty)* $(,)?) [$($returns:tt)*] $wrap:tt) => {
        $(#[$inline])?
        #[allow(unused_mut)]
        fn $method(&$self $(, mut $arg: $type)*) $($returns)* {
            $crate::delegate! { @match [&] $trait $method $self $arms ($($arg)*) $wrap }
        }
    };
    (@method ($trait:ident $hint:tt $self:ident $arms:tt) ($($inline:meta)?)
     $method:ident (&mut self $(, $arg:ident: $type:ty)* $(,)?) [$($returns:tt)*] $wrap:tt) => {
        $(#[$inline])?
        #[allow(unused_mut)]
        fn $method(&mut $self $(, mut $arg: $type)*) $($returns)* {
            $crate::delegate! { @match [&mut] $trait $method $self $arms ($($arg)*) $wrap }
        }
    };

    (@match $borrow:tt $trait:ident $method:ident $self:ident
     { $($pattern:pat => $place:expr $(, in $holder:ident::$variant:ident)?;)* } $args:tt $wrap:tt) => {
        match $self {
            $($pattern => $crate::delegate! {
                @call $borrow $trait $method $place; ($($holder $variant)?) $args $wrap
            },)*
        }
    };

    (@call [$($borrow:tt)*] $trait:ident $method:ident $place:expr; () ($($arg:ident)*) $wrap:tt) => {
        $trait::$method($($borrow)* $place $(, $arg)*)
    };
    (@call [$($borrow:tt)*] $trait:ident $method:ident $place:expr; ($holder:ident $variant:ident)
     ($($arg:ident)*) $wrap:tt) => {
        $crate::delegate! {
            @wrap $wrap $variant
            $trait::$method($($borrow)* $place $(, $crate::delegate!(@pass $holder $variant $arg $arg))*)
        }
    };

    // An argument, known by its name.
    (@pass $holder:ident $variant:ident feedback $arg:ident) => {
        $crate::delegate!(@unwrap $holder $variant $arg)
    };
    (@pass $holder:ident $variant:ident message $arg:ident) => {
        $crate::delegate!(@unwrap $holder $variant $arg)
    };
    (@pass $holder:ident $variant:ident notify $arg:ident) => {
        |to, inner| $arg(to, $holder::$variant(inner))
    };
    (@pass $holder:ident $variant:ident send $arg:ident) => {
        |to, inner| $arg(to, $holder::$variant(inner))
    };
    (@pass $holder:ident $variant:ident $name:ident $arg:ident) => {
        $arg
    };
    (@unwrap $holder:ident $variant:ident $arg:ident) => {
        match $arg {
            $holder::$variant(inner) => inner,
            _ => unreachable!("`{}` of another variant", stringify!($arg)),
        }
    };

    (@wrap [] $variant:ident $value:expr) => {
        $value
    };
    (@wrap [Option $of:ident] $variant:ident $value:expr) => {
        $value.map(<Self::$of>::$variant)
    };
    (@wrap [$of:ident] $variant:ident $value:expr) => {
        <Self::$of>::$variant($value)
    };
}
