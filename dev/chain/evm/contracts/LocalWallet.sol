// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A wallet that is a contract (ERC-1271): what its owner's key signs counts as signed by it, and it does what its owner
/// tells it to do.
contract LocalWallet {
    address public immutable owner;

    constructor(address theOwner) {
        owner = theOwner;
    }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) return 0xffffffff;
        address found =
            ecrecover(hash, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
        return found != address(0) && found == owner ? this.isValidSignature.selector : bytes4(0xffffffff);
    }

    function execute(address target, bytes calldata data) external returns (bytes memory) {
        require(msg.sender == owner, "LocalWallet: not the owner");
        (bool isDone, bytes memory answer) = target.call(data);
        require(isDone, "LocalWallet: the call failed");
        return answer;
    }
}
