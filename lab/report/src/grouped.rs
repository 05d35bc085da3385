//! Groups in the order of the rows that they come from.

pub(crate) fn grouped<K: PartialEq, V>(
    items: impl IntoIterator<Item = (K, V)>,
) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in items {
        match groups.iter_mut().rev().find(|(known, _)| *known == key) {
            Some((_, own)) => own.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

pub(crate) fn distinct_by<T, K: PartialEq>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<T> {
    let keyed = grouped(items.into_iter().map(|item| (key(&item), item)));
    let first = |(_, items): (K, Vec<T>)| items.into_iter().next();
    keyed.into_iter().filter_map(first).collect()
}

pub(crate) fn distinct<T: PartialEq + Clone>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    distinct_by(items, T::clone)
}
