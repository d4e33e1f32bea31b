//! NCCL's double binary tree, by its properties.

use xoff_jobs::collective::{Algorithm, Node, Options, Servers, double_tree, explain};
use xoff_jobs::{Collective, Work};

fn tree(n: u32, second: bool) -> Vec<Node> {
    (0..n).map(|node| double_tree(n, second, node)).collect()
}

/// Steps from the root.
fn depth(tree: &[Node], node: u32) -> u32 {
    let (mut at, mut depth) = (node, 0);
    while let Some(parent) = tree[at as usize].parent {
        (at, depth) = (parent, depth + 1);
        assert!(depth as usize <= tree.len(), "a circle at {node} of {}", tree.len());
    }
    depth
}

#[test]
fn trees_are_trees() {
    for n in 1..=512 {
        let trees = [tree(n, false), tree(n, true)];
        for tree in &trees {
            assert_eq!(tree.iter().filter(|node| node.parent.is_none()).count(), 1, "one root of {n}");
            for (at, node) in (0..).zip(tree) {
                assert!(node.children.len() <= 2);
                for child in &node.children {
                    assert_eq!(tree[*child as usize].parent, Some(at), "{child} below {at} of {n}");
                }
                let parent = node.parent.map(|parent| &tree[parent as usize]);
                assert!(parent.is_none_or(|parent| parent.children.contains(&at)), "{at} of {n}");
            }
            let deepest = (0..n).map(|node| depth(tree, node)).max().unwrap();
            assert_eq!(deepest, if n == 1 { 0 } else { n.next_power_of_two().ilog2() }, "depth of {n}");
        }
        // Who has children in one tree has none in the other: for an even number always, else for all but one.
        let inner = |node: u32| trees.iter().filter(|tree| !tree[node as usize].children.is_empty()).count();
        let twice = (0..n).filter(|node| inner(*node) == 2).count();
        assert!(if n % 2 == 0 { twice == 0 } else { twice <= 1 }, "{twice} of {n} are inner nodes twice");
    }
}

/// Trees as drawn in nccl:src/graph/trees.cc, for 14 nodes.
#[test]
fn the_tree_of_fourteen_is_that_of_the_comment() {
    let first = tree(14, false);
    assert_eq!(first[0], Node { parent: None, children: vec![8] });
    assert_eq!(first[8], Node { parent: Some(0), children: vec![4, 12] });
    assert_eq!(first[4], Node { parent: Some(8), children: vec![2, 6] });
    assert_eq!(first[12], Node { parent: Some(8), children: vec![10, 13] });
    assert_eq!(first[13], Node { parent: Some(12), children: vec![] });
    assert_eq!(first[10], Node { parent: Some(12), children: vec![9, 11] });
    let second = tree(14, true);
    assert_eq!(second[13], Node { parent: None, children: vec![5] });
    assert_eq!(second[5], Node { parent: Some(13), children: vec![9, 1] });
    let odd = tree(5, true);
    assert_eq!(odd[1], Node { parent: None, children: vec![0] });
    assert_eq!(odd[0], Node { parent: Some(1), children: vec![3] });
}

/// No rank sends or receives more than 2·S where the number of servers is even; of two, S each.
#[test]
fn the_busiest_rank_sends_its_share_twice() {
    for n in [2, 4, 6, 8, 14, 32, 64] {
        let options = Options { algorithm: Algorithm::Tree, channels: 2, ..Options::default() };
        let bytes = 1 << 20;
        let servers = Servers { gpus: 1, nics: 1 };
        let members: Vec<u32> = (0..n).collect();
        let (dag, ..) = explain(Collective::AllReduce, &members, bytes, servers, &options).unwrap();
        let (mut sent, mut received) = (vec![0; n as usize], vec![0; n as usize]);
        for (at, op) in dag.ops.iter().enumerate() {
            if let Work::Send { to, bytes, .. } = op.work {
                sent[dag.rank(at as u32) as usize] += bytes;
                received[to as usize] += bytes;
            }
        }
        let most = if n == 2 { bytes } else { 2 * bytes };
        assert_eq!((sent.iter().max(), received.iter().max()), (Some(&most), Some(&most)), "{n} ranks");
        assert!(sent.iter().chain(&received).all(|moved| *moved >= bytes), "{n} ranks");
    }
}
