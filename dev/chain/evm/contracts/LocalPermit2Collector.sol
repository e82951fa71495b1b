// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Permit2} from "Permit2.sol";
import {PermitToken} from "UptoPermit2Proxy.sol";

/// Brings a payer's deposit into the channels by Permit2, for tokens of any kind. The signed witness is the channel, so
/// that the transfer pays into no other. An approval of Permit2 that the payer signed for the token may come along.
contract LocalPermit2Collector {
    address public constant x402BatchSettlement = 0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003;
    Permit2 public constant PERMIT2 = Permit2(0x000000000022D473030F116dDEE9F6B43aC78BA3);
    string public constant DEPOSIT_WITNESS_TYPE_STRING =
        "DepositWitness witness)DepositWitness(bytes32 channelId)TokenPermissions(address token,uint256 amount)";
    bytes32 public constant DEPOSIT_WITNESS_TYPEHASH = keccak256("DepositWitness(bytes32 channelId)");

    error OnlyX402BatchSettlement();
    error Permit2612AmountMismatch();

    event EIP2612PermitFailed(address indexed token, address indexed owner, bytes data);

    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata collectorData)
        external
    {
        if (msg.sender != x402BatchSettlement) revert OnlyX402BatchSettlement();
        (uint256 nonce, uint256 deadline, bytes memory signature, bytes memory approval) =
            abi.decode(collectorData, (uint256, uint256, bytes, bytes));
        if (approval.length > 0) approve(payer, token, amount, approval);
        PERMIT2.permitWitnessTransferFrom(
            Permit2.PermitTransferFrom(Permit2.TokenPermissions(token, amount), nonce, deadline),
            Permit2.SignatureTransferDetails(x402BatchSettlement, amount),
            payer,
            keccak256(abi.encode(DEPOSIT_WITNESS_TYPEHASH, channelId)),
            DEPOSIT_WITNESS_TYPE_STRING,
            signature
        );
    }

    /// An approval that fails may have been made before.
    function approve(address payer, address token, uint256 amount, bytes memory approval) private {
        (uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) =
            abi.decode(approval, (uint256, uint256, uint8, bytes32, bytes32));
        if (value != amount) revert Permit2612AmountMismatch();
        try PermitToken(token).permit(payer, address(PERMIT2), value, deadline, v, r, s) {}
        catch (bytes memory data) {
            emit EIP2612PermitFailed(token, payer, data);
        }
    }
}
